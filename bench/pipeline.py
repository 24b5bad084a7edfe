"""Speed of the pipeline: `python -m bench.pipeline` runs bench.ensembles, bench.ingest and bench.audits in turn.

The figures are in docs/performance.md.
"""

from __future__ import annotations

from bench.audits import measure_audits
from bench.ensembles import measure_ensembles
from bench.ingest import measure_ingest

if __name__ == "__main__":
    measure_ensembles()
    measure_ingest()
    measure_audits()
