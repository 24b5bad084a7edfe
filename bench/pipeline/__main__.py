"""Speed of the pipeline: `python -m bench.pipeline` runs the parts in turn, each of which is a program of its own.

The parts: start, ensembles, sweep, questions, ingest, audits. The figures are in docs/performance.md.
"""

from __future__ import annotations

from bench.pipeline.audits import measure_audits
from bench.pipeline.ensembles import measure_ensembles
from bench.pipeline.ingest import measure_ingest
from bench.pipeline.questions import measure_questions
from bench.pipeline.start import measure_start
from bench.pipeline.sweep import measure_sweeps
from pipeline.spark import session as spark_session

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
