"""One notation: what a person reads calls a channel C21, or by its name where processes have no numbers."""

import re
from html import unescape

import pytest

from diagrams.browser.payload import payload
from diagrams.export import exporter
from diagrams.figure.spacetime import figure
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from sim.core.model import label_of
from sim.core.notation import has_label
from sim.edit.edits import apply_edit
from tests.bundled import small
from tests.cases import each
from tests.diagrams.tools import scene

FOR_PROGRAMS = {"channel", "choice", "reference"}  # keys of a payload whose values nobody reads


def texts_of(value, key=""):
    """Every text of a payload that is shown; names of channels only tell programs which channel is meant."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item, key)
    elif isinstance(value, dict):
        is_channel = "caption" in value
        for own, item in value.items():
            if own not in FOR_PROGRAMS and not (is_channel and own == "name"):
                yield from texts_of(item, own)


def all_texts(name):
    yield from texts_of(payload(scene(name)))
    for form in ("mermaid", "plantuml"):
        yield exporter(form).export(scene(name), View.of(scene(name))).decode("utf-8")


def numbered(name):
    run = scene(name)
    return {own: called for own, called in run.captions.items() if own != called}


@pytest.mark.slow
@each("name", small)
def test_a_numbered_channel_is_called_by_its_numbers_everywhere(name):
    names = numbered(name)
    told = unescape("\n".join(all_texts(name)))
    assert [own for own in names if re.search(rf"\b{re.escape(own)}\b", told)] == []


@pytest.mark.slow
@each("name", small)
def test_no_sentence_names_an_event_that_has_no_name_in_the_diagram(name):
    run = scene(name)
    unnamed = {
        label_of(row.process, row.index, None)
        for own in run.execution.history.of.values()
        for row in own
        if not has_label(row)
    }
    document = payload(run)
    sentences = [step["sentence"] for step in document["steps"]]
    for snapshot in document["snapshots"]:
        sentences += [text for over in snapshot["why"] for _, text in over]
        sentences += [*snapshot["truth"]["why_process"].values(), *snapshot["truth"]["why_channel"].values()]
        sentences += [verdict["text"] for _, told in snapshot["verdicts"] for verdict in told]
    sentences += [cut["witness"] or "" for cut in document["cuts"]]
    assert [text for text in sentences if any(re.search(rf"\b{re.escape(own)}\b", text) for own in unnamed)] == []


def test_an_event_that_a_state_lists_has_its_name_in_the_diagram():
    """An event that the user adds has no label, and the state of its process lists it all the same."""
    added = {"do": "send", "process": "P1", "to": "P2", "body": "hello", "at": 450.0}
    run = compose(apply_edit(scene("lecture").execution, added, 0.0))
    (record,) = payload(run)["snapshots"]
    listed = record["processes"][0]["text"][-1][1]
    assert listed == "{A, B, P1.3}"
    drawn = {
        text.strip() for trace in figure(run, "down")["data"] if trace.get("mode") == "text" for text in trace["text"]
    }
    assert {"A", "B", "P1.3"} <= drawn
