"""A hundred processes that store their parts at once: `python -m bench.pipeline.storage [RUNS] [FOLDER]`.

All of them record at the same moment and are done at the same moment. A part takes the storage some 3.3 ms; it takes
20 uploads at a time, and refuses the others with 503. A process pauses 100 ms then, twice as long after each further
refusal, and gives up after ten tries. Without jitter all pause equally long. With jitter a process waits a random time
before its first upload, and the pauses are drawn at random as well: the least jitter here, 1 ms, does nothing else. The
charts of refusals and of the time to the manifest are written to FOLDER, as on the page Ensembles.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from diagrams.charts import figures as charts
from diagrams.charts.files import SVG, Chart, chart_file, view_of
from diagrams.charts.measures import DIMENSIONS, MEASURES, Row
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.options import NONE
from pipeline.ensembles.queries import Overview, kept_overview
from pipeline.ensembles.run import run_ensemble
from pipeline.spark import session as spark_session
from pipeline.store.folder import Store
from sim.document.files import parse_toml
from sim.document.writing import dumps

RUNS = 200  # of each jitter
PROCESSES = 100
JITTER = (0.0, 0.001, 0.1, 0.2, 0.3, 0.4, 0.5)  # seconds: one time unit is one second here
SHOWN = ("refusals", "commit_latency")

STORM = f"""
processes = {PROCESSES}
topology = {{ kind = "ring" }}
workload = {{ kind = "bank", balance = 1000, transfers = 4, pace = 0.5 }}
delay = {{ kind = "uniform", low = 0.01, high = 0.05 }}
marker_delay = {{ value = 0.01 }}
storage = {{ bandwidth = 1000, latency = 0.001, limit = 20, pause = 0.1, tries = 10 }}
snapshots = [{", ".join(f'{{ id = "S1", process = "P{number}", at = 1 }}' for number in range(1, PROCESSES + 1))}]
"""


def grid(runs: int) -> Grid:
    """The storm with each jitter, so many runs of each."""
    scenario = parse_toml(STORM, "storm")
    return Grid("storm", dumps(scenario), scenario.workload, storage_jitter=JITTER, runs=runs, events=NONE)


def measure_storage(runs: int = RUNS, folder: str = "") -> None:
    """Prints refusals and times to the manifest for each jitter; their charts are written to `folder`."""
    wanted = grid(runs)
    with tempfile.TemporaryDirectory(prefix="bench-storage-") as scratch:
        store = Store.create(Path(scratch) / "storm", "ensemble", wanted.to_json())
        run_ensemble(spark_session.session(), store, wanted)
        found = kept_overview(store)
        committed = store.rows("runs").to_table(["cell", "committed"]).to_pylist()
    print(f"{PROCESSES} processes, {runs} runs of each jitter; median (and eight of ten runs)")
    print("jitter (ms)         503s           time to commit (ms)         committed")
    for row in found.cells:
        own = [run["committed"] for run in committed if run["cell"] == row["cell"]]
        refusals, latency = (_range(row, column, times) for column, times in zip(SHOWN, (1, 1000), strict=True))
        print(f"{1000 * row['storage_jitter']:8.0f}   {refusals:>22}   {latency:>26}   {sum(own) / len(own):9.0%}")
    if folder:
        _draw(found, Path(folder))


def _range(row: Row, column: str, times: float) -> str:
    low, middle, high = (row[f"{column}_{percent}"] for percent in (10, 50, 90))
    if low is None or middle is None or high is None:
        return "-"
    return f"{times * middle:,.0f} ({times * low:,.0f} to {times * high:,.0f})"


def _draw(found: Overview, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    jitter = next(own for own in DIMENSIONS if own.column == "storage_jitter")
    for column in SHOWN:
        figure = charts.curves(found.cells, found.points, jitter, MEASURES[column])
        chart = Chart(figure, "Line: the median run. Band: eight of ten runs.", f"storm-{column}", bytes)
        path = folder / f"{chart.name}.svg"
        path.write_bytes(chart_file(chart, SVG, view_of({})))
        print(f"in {path}")


if __name__ == "__main__":
    try:
        measure_storage(int(sys.argv[1]) if sys.argv[1:] else RUNS, *sys.argv[2:3])
    finally:
        spark_session.stop()
