"""A log on the Traces page that is followed while it grows (python -m pipeline ingest --follow).

The window moves with the newest rows while "Follow" is on. Where it is off, the window and its cut stay as they are,
and only the line above them tells what has come.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pipeline.store.folder import Store
from pipeline.streaming.progress_file import News, news
from views.server.errors import complaining
from views.server.plain_words import as_text

LOOK_S = 1.5  # between two looks into the folder
MOST_TOLD = 3  # verdicts


def is_followed(store: Store) -> bool:
    """Whether a folder has followed its logs, or does so now."""
    manifest = store.manifest
    return manifest is not None and bool(manifest.about.get("followed"))


def follow_switch(store: Store, controls: DeltaGenerator) -> bool:
    """Draw the switch, and what has come so far. Returns whether the window is to move on with what comes."""
    moves = False
    if store.is_being_written:
        moves = controls.toggle(
            "Follow", value=True, key=f"follow-{store.name}", persist_state="session",
            help="The window moves with the newest rows. Switch it off to keep the window and the cut.",
        )  # fmt: skip
    st.fragment(_look, run_every=LOOK_S if store.is_being_written else None)(store, news(store), moves)
    return moves


def _look(store: Store, drawn: News, moves: bool) -> None:
    """Draw what has come, and the page anew where its window has to move on, or where the following has ended."""
    with complaining():
        found = news(store)
        if (found.batch != drawn.batch and (moves or not drawn.rows)) or (moves and not store.is_being_written):
            st.rerun()
        st.caption(as_text(in_words(found, is_growing=store.is_being_written)))


def in_words(found: News, *, is_growing: bool) -> str:
    """How far it has come, in a line."""
    text = f"{found.rows:,} rows so far" if is_growing else f"{found.rows:,} rows; nobody follows the log now"
    if not found.rows:
        text = "The log is followed; it has no rows as yet"
    verdicts = [
        f"{own.cut}: consistent" if own.consistent else f"{own.cut}: inconsistent, by message {own.witness}"
        for own in (latest.verdict for latest in found.latest[-MOST_TOLD:])
    ]
    if verdicts:
        text += f". Snapshots judged: {found.verdicts:,}, the last {'; '.join(verdicts)}"
    return f"{text}."
