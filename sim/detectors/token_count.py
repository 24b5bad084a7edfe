"""The token is lost, or there are two of them."""

from __future__ import annotations

from sim.core.detector import Contents, Detector, Finding, States
from sim.core.workload import Workload
from sim.workloads.token import DOUBLE, LOSE


class TokenLost(Detector):
    """A token that is nowhere never comes back: only who has one can pass it on or double it."""

    name = "token_lost"
    title = "Token lost"
    holds = "The token is lost"
    fails = "The token is not lost"
    source = "K. M. Chandy and L. Lamport, 1985, examples 2.1 and 3.1"
    workloads = ("token",)

    @classmethod
    def fits(cls, workload: Workload) -> bool:
        """Whether no token is doubled."""
        return super().fits(workload) and getattr(workload, "fault", "") != DOUBLE

    def look(self, states: States, channels: Contents) -> Finding:
        """No process has a token, and none is on its way."""
        places = token_places(states, channels)
        first = next((f"a token is {place}" for place in places), "no process and no channel has a token")
        return Finding(not places, first)


class TokenDoubled(Detector):
    """Two tokens stay two: a run that doubles tokens loses none."""

    name = "token_doubled"
    title = "Token doubled"
    holds = "There are two tokens or more"
    fails = "There are not two tokens"
    source = TokenLost.source
    workloads = ("token",)

    @classmethod
    def fits(cls, workload: Workload) -> bool:
        """Whether no token is lost."""
        return super().fits(workload) and getattr(workload, "fault", "") != LOSE

    def look(self, states: States, channels: Contents) -> Finding:
        """Two places have a token, or one has two."""
        places = token_places(states, channels)
        several = [place if count == 1 else f"{place} ({count} of them)" for place, count in places.items()]
        holds = sum(places.values()) > 1
        return Finding(holds, f"tokens are {' and '.join(several)}" if holds else "there is one token at most")


def token_places(states: States, channels: Contents) -> dict[str, int]:
    """The places of the tokens, with the number at each."""
    held = {f"in {process}": state for process, state in states.items() if state}
    sent = {f"on its way from {name.replace('->', ' to ')}": len(own) for name, own in channels.items() if own}
    return held | sent
