"""The kinds of fault: what each is about, what it changes, which of them it may follow, and how it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sim.core.model import Copy, Crash, Fault, Freeze, Join, Leave, Lose, Mend, Restart, Sever, Slow, Thaw

PROCESS, CHANNELS, MESSAGE = "process", "channels", "message"  # what a fault is about
ABSENT, DOWN, FROZEN, SEVERED = "absent", "down", "frozen", "severed"  # what a process or a channel is meanwhile


class FaultKind(NamedTuple):
    """One kind of fault.

    `action` is what the engine carries out, and `about` is PROCESS, CHANNELS or MESSAGE. `does` says what becomes of
    them: P2 "crashes", C12 is "severed". `noun` names it: "the crash of P2". `begins` is what its process or channels
    are from then on, and `ends` what they are no longer. A kind that only ends something needs the first of that
    before it, and `advice` says so. It changes nothing while they are what `unless` says.
    """

    action: type[Fault]
    about: str
    does: str
    noun: str
    begins: str = ""
    ends: tuple[str, ...] = ()
    advice: str = ""
    unless: str = ""

    @property
    def needs(self) -> str:
        """The condition of its process or channels before the fault (empty: any)."""
        return self.ends[0] if self.ends and not self.begins else ""

    @property
    def is_unsure(self) -> bool:
        """Whether it can be a no-op, because a recovery may already have restarted the process."""
        return not {self.begins, self.needs, self.unless}.isdisjoint({DOWN, FROZEN})


FAULT_KINDS: Mapping[str, FaultKind] = {
    "crash": FaultKind(Crash, PROCESS, "crashes", "crash", DOWN, (FROZEN,)),
    "restart": FaultKind(Restart, PROCESS, "starts again", "restart", "", (DOWN,), "a restart comes after a crash"),
    "freeze": FaultKind(
        Freeze, PROCESS, "is frozen", "freezing", FROZEN, (), "only a process that is up can be frozen", DOWN
    ),
    "thaw": FaultKind(Thaw, PROCESS, "is thawed", "thawing", "", (FROZEN,), "only what is frozen can be thawed"),
    "sever": FaultKind(Sever, CHANNELS, "severed", "severing", SEVERED),
    "mend": FaultKind(Mend, CHANNELS, "mended", "mending", "", (SEVERED,), "only what is severed can be mended"),
    "join": FaultKind(
        Join, PROCESS, "joins", "joining", "", (ABSENT,), "only a process under `absent`, or one that left, joins"
    ),
    "leave": FaultKind(Leave, PROCESS, "leaves", "leave", ABSENT, (DOWN, FROZEN)),
    "slow": FaultKind(Slow, PROCESS, "becomes slow", "pace"),
    "lose": FaultKind(Lose, MESSAGE, "lost", "loss"),
    "copy": FaultKind(Copy, MESSAGE, "copied", "copy"),
}
KIND_OF: Mapping[type[Fault], FaultKind] = {kind.action: kind for kind in FAULT_KINDS.values()}
