"""The lease of a registry: one controller at a time has it.

A controller that starts takes the lease: a row with a number that rises each time. Every later change of the controller
carries this fencing number. As long as it runs, it renews the lease. Another controller takes the lease only after the
first has ended. On the same machine, it looks for the process. Otherwise it watches, by its own monotonic clock, for as
long as a lease lasts, and takes the lease if it was not renewed. So no two clocks are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from cluster.store.holder import Holder, Lease
from cluster.store.registry import Registry
from sim.core.errors import InputError

RENEW_S = 2.0  # from one renewal to the next
LEASE_S = 10.0  # without a renewal, after which another controller may take the lease
LOOK_S = 0.1  # between two looks at a lease that may be renewed


def take(
    registry: Registry, own: Holder, say: Callable[[str], None] = lambda text: None, lasts: float = LEASE_S
) -> Lease | None:
    """Take the lease for a controller. Returns the lease before it (None: there was none).

    Waits as long as a lease `lasts`, in seconds, if it cannot see whether the last controller still runs. Raises
    Unavailable, and InputError if another controller runs: the error names it.
    """
    before = registry.lease()
    if before is not None and before.is_held:
        if before.holder.has_ended:
            say(f"the controller before has ended without a word ({before.holder}): this one takes its registry")
        elif before.holder.is_of_this_machine:
            raise _refusal(registry, before)
        else:
            say(f"{before.holder} has the registry: looking for up to {lasts:g} s whether it still runs")
            _watch(registry, before, lasts)
    if not registry.take_lease(own, before):
        now = registry.lease()
        assert now is not None
        raise _refusal(registry, now)
    return before


def _watch(registry: Registry, before: Lease, lasts: float) -> None:
    """Wait until a lease has run out. Raises InputError if it is renewed."""
    end = time.monotonic() + lasts
    while time.monotonic() < end:
        now = registry.lease()
        if now is not None and (now.number, now.renewals) != (before.number, before.renewals):
            raise _refusal(registry, now)
        time.sleep(LOOK_S)


def _refusal(registry: Registry, lease: Lease) -> InputError:
    owner = registry.cluster()
    name = "another cluster" if owner is None else owner.id
    return InputError(
        f"{registry.where}: {name} is running with this registry ({lease.holder}); end it, or give each cluster a "
        "registry of its own"
    )
