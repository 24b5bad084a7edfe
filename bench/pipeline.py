"""What the pipeline costs: `python -m bench.pipeline` measures ensembles, ingest and audits, one after the other.

Each is a module of its own here, and may be measured alone. The figures are in docs/performance.md.
"""

from __future__ import annotations

from bench.audits import measure_audits
from bench.ensembles import measure_ensembles
from bench.ingest import measure_ingest

if __name__ == "__main__":
    measure_ensembles()
    measure_ingest()
    measure_audits()
