"""The browser tab that a script runs for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from sim.core.deadline import OutOfTime


def is_open_of_this_tab() -> Callable[[], bool]:
    """A function that says, in any thread, whether the tab that this script runs for is still connected."""
    context = get_script_run_ctx()
    number = context.session_id if context else ""
    return lambda: get_instance().is_active_session(number)


@contextmanager
def for_this_tab() -> Iterator[Callable[[], bool]]:
    """Work for the tab that this script runs for; gives a function that says whether it is connected, and stops if not.

    Raises OutOfTime for a tab that is connected: the answer around this says that its time is spent.
    """
    is_open = is_open_of_this_tab()
    try:
        yield is_open
    except OutOfTime:
        if is_open():
            raise
        st.stop()
