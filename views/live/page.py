"""The page Live: a cluster of real processes, which all visitors of the page watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sim.core.errors import InputError
from views.explore.opening import open_scenario
from views.live import words
from views.live.cluster import LIVE, LiveRun
from views.live.component import live_cluster
from views.live.form import live_form
from views.live.form_state import FormState
from views.live.segment import keep, scenario_of
from views.server import visitors
from views.server.addresses import LIVE as ADDRESS
from views.server.budget import answering
from views.server.plain_words import sentence
from views.server.tabs import for_this_tab
from views.traces.page import PAGE as TRACES
from views.traces.page import as_page as traces_page
from views.widgets.on_show import show
from views.widgets.outbox import new_entries

COMPONENT = "live"
STATE = "live_page"
LOOK_S = 1.0  # between two looks for a new cluster


class LivePage:
    """One browser tab on the page: the wishes that it has sent, and their effects."""

    def __init__(self) -> None:
        self.ack = 0
        self.notice: dict[str, Any] | None = None
        self.wants_another = ""  # the id of the cluster that is over, instead of which the form is shown
        self.segment: tuple[str, float, float] | None = None  # to be opened on another page

    def data(self, run: LiveRun) -> dict[str, Any]:
        """The data for the component of this browser, besides the frames."""
        return {
            "run": run.id, "title": run.form_state.title, "ack": self.ack, "notice": self.notice,
            "may_act": may_act(run),
        }  # fmt: skip

    def take(self, outbox: object) -> None:
        """Carry out the wishes of the browser, in their order."""
        for entry in new_entries(outbox, self.ack):
            self.ack, self.notice = entry["seq"], None
            run = LIVE.find(str(entry["edit"].get("run", "")))
            if run is None:
                continue
            try:
                self._carry_out(run, entry["edit"])
            except InputError as problem:
                self.notice = {"seq": self.ack, "text": sentence(str(problem))}

    def _carry_out(self, run: LiveRun, wish: Mapping[str, Any]) -> None:
        what = wish["do"]
        if what in ("explore", "traces"):
            begin, end = wish.get("begin"), wish.get("end")
            if isinstance(begin, int | float) and isinstance(end, int | float) and 0 <= begin < end < 1e9:
                self.segment = what, begin, end
        elif what == "another":
            self.wants_another = run.id
        elif not may_act(run):
            raise InputError(words.NOT_YOURS)
        elif what == "stop":
            run.stop()
        elif what == "snapshot":
            run.client.trigger(_text(wish, "node") or None)
        elif what == "restore":
            run.client.restore()
        elif what in ("kill", "freeze", "thaw"):
            run.client.inject(what, node_id=_text(wish, "node"))
        elif what in ("sever", "mend"):
            channels = wish.get("channels")
            names = [name for name in channels if isinstance(name, str)] if isinstance(channels, list) else []
            run.client.inject(what, channels=names)


def _text(wish: Mapping[str, Any], key: str) -> str:
    return str(wish.get(key) or "")[:100]


def may_act(run: LiveRun) -> bool:
    """Whether this visitor may control a cluster: its owner may, and every user if there are no visitors."""
    return run.owner is None or run.owner == visitors.visitor()


def as_page() -> st.Page:
    """This page for st.navigation and st.switch_page."""
    return st.Page(page, title=words.TITLE, url_path=ADDRESS)


def page() -> None:
    """Draw the page: the cluster of this server, or the form that starts one."""
    own: LivePage = st.session_state.setdefault(STATE, LivePage())
    run = LIVE.current
    if run is None or (run.is_over and own.wants_another == run.id):
        live_form(_start)
        st.fragment(_wait, run_every=LOOK_S)(run)
    else:
        _cluster()


def _wait(before: LiveRun | None) -> None:
    """Draw the page again when a visitor has started a cluster."""
    if LIVE.current is not before:
        st.rerun()


def _start(form_state: FormState) -> None:
    """Start a cluster. Raises InputError."""
    LIVE.start(form_state, visitors.visitor())
    st.rerun()


@st.fragment
def _cluster() -> None:
    """The cluster, as a fragment: a wish arrives as its new value, and only the component is drawn again."""
    own: LivePage = st.session_state[STATE]
    run = LIVE.current
    if run is None or own.wants_another == run.id:
        st.rerun()
    live_cluster(own.data(run), key=COMPONENT, on_outbox_change=_take)
    segment, own.segment = own.segment, None
    if segment is not None:
        _open(own, run, *segment)


def _take() -> None:
    st.session_state[STATE].take(st.session_state[COMPONENT].outbox)


def _open(own: LivePage, run: LiveRun, where: str, begin: float, end: float) -> None:
    """Go to another page with a segment of the run; if that is not possible, say why."""
    try:
        if where == "explore":
            with for_this_tab() as is_open, answering(is_open):
                scenario = scenario_of(run, begin, end)
            open_scenario(scenario)
        visitors.check_room()
        name = keep(run, begin, end, visitors.visitor())
    except InputError as problem:
        own.notice = {"seq": own.ack, "text": sentence(str(problem))}
        st.rerun(scope="fragment")
    show(TRACES, name)
    st.switch_page(traces_page())
