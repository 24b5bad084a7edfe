"""`python -m pipeline.compiled`: compiles the kernel in advance, so that no user waits for it later."""

from __future__ import annotations

from pipeline.compiled.runs import compiled
from sim.document.scenario import Scenario

if __name__ == "__main__":
    quick = compiled(Scenario("bank", ("P1", "P2"), workload="bank"))
    if quick is None or not quick.found([0]).answered.all():
        raise SystemExit("Numba does not work here, so the runs of ensembles stay in Python; see `make fast`")
    print("the runs of ensembles are compiled")
