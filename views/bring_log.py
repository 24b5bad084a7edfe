"""The form that brings a log: files, what they are, and the data folder that it becomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import Literal, NamedTuple

import streamlit as st

from diagrams.export import View, shiviz
from diagrams.scene import compose
from pipeline import formats
from pipeline.formats import Options
from sim import library
from sim.execution import run
from sim.scenario import ScenarioError
from views.errors import complain

MOST_MEGABYTES = 200
PATTERNS = {
    "text, then host and clock (ShiViz's own)": r"(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})",
    "host and clock, then text (GoVector)": r"(?P<host>\S*) (?P<clock>{.*})\n(?P<event>.*)",
    "all on one line": r"(?P<host>\S*) (?P<clock>{.*}) (?P<event>.*)",
}
FORMAT_OF = {".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet", ".top": "cos418", ".events": "cos418"}
EXAMPLE = "overlapping"


class Brought(NamedTuple):
    """What was brought: contents by file name, how to read them, and the name of the data folder to be."""

    name: str
    files: Mapping[str, bytes]
    form: str
    options: Options
    quarantine: bool


def bring_log(start: Callable[[Brought], None]) -> None:
    """The form; `start` may raise ScenarioError, which is shown, and nothing is lost."""
    uploads = st.file_uploader(
        "Bring a log", accept_multiple_files=True, max_upload_size=MOST_MEGABYTES, key="log-files",
        help=f"Up to {MOST_MEGABYTES} MB. Larger ones: python -m pipeline ingest.",
    )  # fmt: skip
    files = {upload.name: upload for upload in uploads}
    guess = guessed(list(files))
    names = formats.names()
    form = st.selectbox(
        "Format", names, index=names.index(guess), format_func=lambda name: formats.find(name).TITLE, key=f"log-{guess}"
    )
    options = _options(form) if form == "shiviz" else Options()
    quarantine = st.checkbox("Set aside what cannot be believed, and go on", key="log-quarantine")
    example, read = st.columns(2)
    try:
        look: Literal["primary", "secondary"] = "primary" if files else "secondary"
        if read.button("Read it", type=look, disabled=not files, key="log-read", width="stretch"):
            contents = {name: upload.getvalue() for name, upload in files.items()}
            start(Brought(folder_name(list(files)), contents, form, options, quarantine))
        if example.button("Take an example", key="log-example", width="stretch"):
            start(the_example())
    except ScenarioError as problem:
        complain(str(problem))


def _options(form: str) -> Options:
    """How a ShiViz log is taken apart."""
    kind = st.selectbox("Lines", [*PATTERNS, "an expression of my own"], key="log-lines")
    pattern = PATTERNS.get(kind) or st.text_area(
        "Expression", next(iter(PATTERNS.values())), key="log-pattern", height=68,
        help="Groups host, clock and event; if you like, kind (send or receive), peer and msg.",
    )  # fmt: skip
    delimiter = st.text_input(
        "Line between executions", placeholder="^=== (?P<trace>.*) ===$", key="log-delimiter",
        help="An expression; empty: the log is of one execution.",
    )  # fmt: skip
    return Options(pattern, delimiter or None)


def guessed(names: list[str]) -> str:
    """The format that files of these names have, most likely."""
    suffixes = [PurePath(name).suffix.lower() for name in names]
    return next((FORMAT_OF[suffix] for suffix in suffixes if suffix in FORMAT_OF), "shiviz")


def folder_name(names: list[str]) -> str:
    """Such as simpledb-2026-11-21-140501, which the data root takes."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", PurePath(names[0]).stem).strip("-")[:40] or "log"
    return f"{stem}-{datetime.now():%Y-%m-%d-%H%M%S}"


def the_example() -> Brought:
    """The log that a bundled scenario would have left, with vector clocks."""
    scene = compose(run(library.load(EXAMPLE)))
    content = shiviz.export(scene, View.of(scene))
    return Brought(
        folder_name([f"example-{EXAMPLE}"]), {f"{EXAMPLE}.log": content}, "shiviz",
        Options(next(iter(PATTERNS.values()))), quarantine=False,
    )  # fmt: skip
