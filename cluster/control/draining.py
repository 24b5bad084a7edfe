"""The end of all traffic: nodes begin nothing more, and the last messages arrive."""

from __future__ import annotations

import asyncio

from cluster.control.cluster_parts import ClusterParts

PAUSE = 0.02  # seconds between two rounds of questions


async def is_drained(parts: ClusterParts, timeout: float) -> bool:
    """Let the nodes begin nothing more, and wait until no message is in transit.

    Returns False if that takes more than `timeout` seconds. Two rounds of questions have the same answers, and the
    second begins after the first is answered: then no message was in transit in between (F. Mattern, "Algorithms for
    distributed termination detection", 1987, the four counters).
    """
    there = [member for member in parts.members if member.is_present]
    answers: list[dict[str, int]] = []
    async with parts.changes:
        for member in there:
            member.tell(parts.system, "drain", {})
        try:
            async with asyncio.timeout(timeout):
                while True:
                    before = answers
                    for member in there:
                        member.tell(parts.system, "report", {})
                    answers = [await parts.members.hear(member, "reported", None) for member in there]
                    if answers == before and not any(own["waiting"] or own["unconfirmed"] for own in answers):
                        return True
                    await asyncio.sleep(PAUSE)
        except TimeoutError:
            return False
