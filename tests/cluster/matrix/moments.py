"""Moments of a cluster: each is brought about, and lasts until something has happened in it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from tests.cluster.matrix.cells import CALM, COMMITTING, JOINING, LEAVING, RESTORING, UNDER_WAY
from tests.cluster.matrix.gates import HANG
from tests.cluster.matrix.launcher import COMMIT
from tests.cluster.matrix.stage import COMES_S, NAMES, Stage
from tests.cluster.running import nodes_of
from tests.waiting import until

HELD = NAMES[-1]  # the node that stands still so that others wait for it
CUT_OFF = "P4->P3"


def _nothing() -> None:
    pass


class Moment(NamedTuple):
    """`goes_on` ends what made it last, when the fault has begun; `is_over`, when the fault has ended.

    `pid` is the process that stands still, if there is one (0: none).
    """

    goes_on: Callable[[], None] = _nothing
    is_over: Callable[[], None] = _nothing
    pid: int = 0


def brought_about(when: str, stage: Stage) -> Moment:
    """The moment, now that it has come."""
    return {
        CALM: lambda stage: Moment(),
        UNDER_WAY: _under_way,
        COMMITTING: _committing,
        RESTORING: _restoring,
        JOINING: _joining,
        LEAVING: _leaving,
    }[when](stage)


def _under_way(stage: Stage) -> Moment:
    """A marker does not come through: processes have recorded, and cannot be done."""
    stage.inject("sever", CUT_OFF)
    own = until(stage.trigger, "a snapshot is asked for", COMES_S)
    until(lambda: stage.has_logged("", '"record"', own), "a process records", COMES_S)

    return Moment(is_over=lambda: stage.inject("mend"))


def _committing(stage: Stage) -> Moment:
    """All parts are stored, and the manifest is being written."""
    stage.gates.set(COMMIT, HANG)
    own = until(stage.trigger, "a snapshot is asked for", COMES_S)
    until(lambda: stage.has_logged("controller", '"commit"', own), "its parts are stored", COMES_S)
    return Moment(lambda: stage.gates.set(COMMIT))


def _restoring(stage: Stage) -> Moment:
    """One node does not say that it is restored."""
    moment = _held(stage.pid(HELD))
    stage.in_background("POST", "/v1/restore")
    until(lambda: stage.has_logged("controller", '["recover",'), "a recovery begins", COMES_S)
    return moment


def _joining(stage: Stage) -> Moment:
    """The process of the newcomer is there, and does not say so."""
    before = {*stage.pids}
    stage.in_background("POST", "/v1/nodes")
    (newcomer,) = until(lambda: {*nodes_of(stage.process)} - before, "a node starts", COMES_S)
    return _held(newcomer)


def _leaving(stage: Stage) -> Moment:
    """A node is told to leave, and does not."""
    moment = _held(stage.pid(HELD))
    stage.in_background("DELETE", f"/v1/nodes/{HELD}")
    stage.nodes()  # it is asked after the other, so that one has been heard
    return moment


def _held(pid: int) -> Moment:
    os.kill(pid, signal.SIGSTOP)

    def release() -> None:
        with suppress(ProcessLookupError):  # it may have been taken for gone meanwhile, and ended
            os.kill(pid, signal.SIGCONT)

    return Moment(release, pid=pid)
