"""The pages on formats, and on algorithms, workloads and detectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from diagrams import export
from pipeline import formats
from pipeline.logs.format import ANYTHING
from sim.core.algorithm import ALGORITHMS
from sim.core.detector import DETECTORS
from sim.core.parameters import Parameter
from sim.core.workload import WORKLOADS
from sim.services import settings
from tests.project.reference.markdown import code, page, table


def formats_page() -> str:
    """The page on the formats of exports and of logs."""
    own = [(name, export.exporter(name)) for name in export.formats()]
    exports = ((code(name), each.SUFFIX, each.TITLE, each.FOR) for name, each in own)
    asked = ((option.name, option.help, name) for name, _ in own for option in export.options_of(name))
    logs = ((code(name), _suffixes(name), formats.find(name).TITLE) for name in formats.names())
    of_logs = (
        (option.name, option.help or option.label, name)
        for name in formats.names()
        for option in formats.options_of(name)
    )
    head = ("option", "meaning", "formats")
    return page(
        "Formats",
        "## Formats of exports", table(("format", "suffix", "title", "use"), exports),
        "### Options of exports", table(head, _together(asked)),
        "## Formats of logs", table(("format", "suffixes", "title"), logs),
        "### Options of logs", table(head, _together(of_logs)),
    )  # fmt: skip


def _together(options: Iterable[tuple[str, str, str]]) -> Iterator[Sequence[str]]:
    """Options (name, help and format), with the formats of the same option in one row."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, told, form in options:
        found.setdefault((name, told), []).append(code(form))
    yield from ((code(f"--{name}"), told, ", ".join(forms)) for (name, told), forms in found.items())


def _suffixes(name: str) -> str:
    return ", ".join("any other" if own == ANYTHING else own for own in formats.suffixes_of(name))


def plug_ins() -> str:
    """The page on algorithms, workloads and detectors with their parameters, and on the keys of services."""
    head = ("name", "title", "source")
    of_each, of_one = ("name", "parameter", "default", "meaning"), ("key", "default", "meaning")
    detectors = ((code(name), own.title, ", ".join(map(code, own.workloads))) for name, own in _items(DETECTORS))
    return page(
        "Algorithms, workloads, detectors and services",
        "Broken rules are listed in [broken-rules.md](../broken-rules.md).",
        "## Algorithms", table(head, _titles(ALGORITHMS)),
        "### Parameters of algorithms", table(of_each, _parameters(ALGORITHMS)),
        "## Workloads", table(head, _titles(WORKLOADS)),
        "### Parameters of workloads", table(of_each, _parameters(WORKLOADS)),
        "## Detectors of stable properties", table(("name", "title", "workloads"), detectors),
        "## Keys of [coordinator]", table(of_one, _told(settings.PARAMETERS)),
        "## Keys of [storage]", table(of_one, _told(settings.STORAGE)),
    )  # fmt: skip


def _titles(registry: Any) -> Iterator[Sequence[object]]:
    return ((code(name), own.title, own.source) for name, own in _items(registry))


def _told(parameters: Mapping[str, Parameter]) -> Iterator[Sequence[object]]:
    return ((code(name), code(own.default), own.help) for name, own in parameters.items())


def _items(registry: Any) -> list[tuple[str, Any]]:
    return [(name, registry[name]) for name in registry]


def _parameters(registry: Any) -> Iterator[Sequence[object]]:
    return ((code(name), *row) for name, own in _items(registry) for row in _told(own.parameters))
