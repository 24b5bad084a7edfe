"""Errors on every page: one sentence, announced to screen readers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

import streamlit as st

from pipeline.store.data_root import data_root
from sim.core.errors import InputError
from views.server.plain_words import sentence
from views.server.words import THE_DATA


@contextmanager
def complaining() -> Iterator[None]:
    """Show an InputError of the block, or of the function that this decorates, as one sentence."""
    try:
        yield
    except InputError as problem:
        complain(str(problem))


def complain(text: str) -> None:
    """Show one sentence, without the folders of the server."""
    st.html(f'<p class="cut-error" role="alert">{escape(as_sentence(text))}</p>')


def as_sentence(text: str) -> str:
    """A problem as a sentence of the page, without the folders of the server."""
    try:
        root = str(data_root())
    except InputError:  # this error is the problem itself
        return sentence(text)
    return sentence(text.replace(f"{root}{os.sep}", "").replace(root, THE_DATA))
