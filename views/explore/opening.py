"""Opens a run of a data folder on the Explore page."""

from __future__ import annotations

from dataclasses import replace

from pipeline.opening import scenario_of_run
from pipeline.store.folder import Store
from sim.document.scenario import Scenario
from sim.document.writing import dumps
from sim.edit.link import Shared
from sim.run.snapshots import snapshots_of
from views.explore import page as explore
from views.explore import words
from views.server.budget import answering, run_of
from views.server.tabs import for_this_tab


def open_run(store: Store, run_id: int, snapshot_id: str | None, story: str) -> None:
    """Go to Explore with run `run_id` of an ensemble, at the step at which the snapshot was complete.

    `story` is the text of the Story tab. Raises InputError, and then nothing has changed.
    """
    with for_this_tab() as is_open, answering(is_open):
        scenario = scenario_of_run(store, run_id)
        titled = replace(scenario, title=words.run_of_ensemble(run_id, store.name), story=story)
        open_scenario(titled, step_of(scenario, snapshot_id))


def open_scenario(scenario: Scenario, step: int = 0) -> None:
    """Go to Explore with a scenario. Raises InputError, and then nothing has changed."""
    explore.show(Shared(toml=dumps(scenario), name=scenario.name, step=step))


def step_of(scenario: Scenario, snapshot_id: str | None) -> int:
    """The step at which the snapshot was complete; the last step if it never was, 0 if there is none."""
    if snapshot_id is None:
        return 0
    execution = run_of(scenario)
    snapshots = {snapshot.id: snapshot for snapshot in snapshots_of(execution)}
    return snapshots[snapshot_id].completed or execution.steps
