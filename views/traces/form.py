"""The form for a foreign log: its files, their format, and the name of its data folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import NamedTuple

import streamlit as st

from pipeline import formats
from pipeline.logs.format import Option, Options
from pipeline.store.data_root import free_name
from views.server import visitors
from views.server.errors import complaining
from views.server.jobs import JOBS
from views.server.uploads import by_name
from views.traces import words


class FormState(NamedTuple):
    """The state of the form: the new folder's name, contents by file name, and the format with its options."""

    name: str
    files: Mapping[str, bytes]
    form: str
    options: Options
    quarantine: bool


def bring_log(start: Callable[[FormState], None]) -> None:
    """Draw the form. `start` may raise InputError: it is shown, and the form keeps its content."""
    uploads = st.file_uploader(
        words.BRING, accept_multiple_files=True, max_upload_size=visitors.most_megabytes(), key="log-files",
        help=words.bring_help(visitors.most_megabytes()),
    )  # fmt: skip
    files = by_name(uploads)
    guess = formats.guess(list(files))
    names = formats.names()
    form = st.selectbox(
        words.FORMAT,
        names,
        index=names.index(guess),
        format_func=lambda name: formats.find(name).TITLE,
        key=f"log-{guess}",
    )
    fields = {option.name: _field(form, option) for option in formats.options_of(form)}
    options = {name: value for name, value in fields.items() if value}
    quarantine = st.checkbox(words.SKIP, key="log-quarantine")
    with complaining():
        if st.button(words.READ, type="primary", disabled=not files, key="log-read", width="stretch"):
            contents = {name: upload.getvalue() for name, upload in files.items()}
            start(FormState(folder_name(list(files)), contents, form, options, quarantine))


def _field(form: str, option: Option) -> str:
    """The value of a format's option: one of its choices, or a text (empty: none)."""
    key, help = f"log-{form}-{option.name}", option.help[:1].upper() + option.help[1:] or None
    if not option.choices:
        return st.text_input(option.label, option.default, key=key, placeholder=option.placeholder, help=help)
    others = [option.other] if option.other else []
    choice = st.selectbox(option.label, [*option.choices, *others], key=key, help=help)
    if choice in option.choices:
        return option.choices[choice]
    first = next(filter(None, option.choices.values()))
    return st.text_area(option.other.capitalize(), first, key=f"{key}-other", height=68, help=help)


def folder_name(names: list[str]) -> str:
    """A free name of a data folder, such as simpledb-2026-11-21-140501."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", PurePath(names[0]).stem).strip("-")[:40] or "log"
    return free_name(f"{stem}-{datetime.now():%Y-%m-%d-%H%M%S}", [job.name for job in JOBS.active()])


def in_the_forms_words(problem: str) -> str:
    """A problem in the form's words: its labels instead of the command line's options."""
    for option in (option for form in formats.names() for option in formats.options_of(form)):
        problem = re.sub(rf"--{option.name}\b", f"“{option.label}”", problem)
    return problem
