"""A Numba that is there but does not work: Python does the runs, and it is noticed once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import ROOT

RUNS = """
import logging, sys
from pathlib import Path
from pipeline.ensembles.at_once import rows_at_once
from pipeline.ensembles.chunks import carry_out, plan_of
from tests.pipeline.some_ensembles import begin, rows

logging.basicConfig()
store, grid = begin(Path(sys.argv[1]), {"processes": "3", "runs": "16", "events": "none"}, {"transfers": "3"})
plan = plan_of(store, grid)
for chunk in range(plan.chunk_count):
    carry_out(plan, chunk)
print(plan.chunk_count, len(rows(store, "runs")), {row["engine"] for row in rows(store, "runs")})
print(len(rows_at_once(plan.documents[0], "bank", 40, 3)))
"""
STAGES = {
    "OSError: no library of LLVM": "raise OSError('no library of LLVM')",
    "AttributeError: no such thing": "raise AttributeError('no such thing')",
    "SystemError: initialization failed": "raise SystemError('initialization failed')",
    "KeyError: '_nrt'": "def njit(*functions, **options): raise KeyError('_nrt')",
    "TypeError: cannot type this": """
def njit(*functions, **options):
    def compiled(*given):
        raise TypeError("cannot type this")
    return lambda function: compiled
""",
}


ELSE = ("AttributeError: no such thing", "SystemError: initialization failed")
OTHERS = pytest.mark.long("further exceptions of a Numba that does not work")


@pytest.mark.slow
@pytest.mark.parametrize("problem", [pytest.param(name, marks=OTHERS) if name in ELSE else name for name in STAGES])
def test_python_does_the_runs_where_numba_fails_at_import_at_decoration_or_at_the_first_call(
    problem: str, tmp_path: Path
) -> None:
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text(STAGES[problem], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUNS, str(tmp_path / "e")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "2 16 {'python'}\n3\n", done.stderr
    assert done.stderr == f"WARNING:pipeline:Numba does not work, so runs are done in Python: {problem}\n"
