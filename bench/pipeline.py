"""Speed of the pipeline: `python -m bench.pipeline` runs the parts in turn, each of which is a program of its own.

bench.start, bench.ensembles, bench.sweep, bench.questions, bench.ingest, bench.audits. The figures are in
docs/performance.md.
"""

from __future__ import annotations

from bench.audits import measure_audits
from bench.ensembles import measure_ensembles
from bench.ingest import measure_ingest
from bench.questions import measure_questions
from bench.start import measure_start
from bench.sweep import measure_sweeps
from pipeline.spark import spark_session

SWEEP = 100_000  # runs

if __name__ == "__main__":
    measure_start()
    try:
        measure_ensembles()
        measure_sweeps(SWEEP)
        measure_questions()
        measure_ingest()
        measure_audits()
    finally:
        spark_session.stop()
