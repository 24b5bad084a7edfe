"""The generated code is what `make proto` makes of snapshot.proto."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import ROOT

FOLDER = Path("cluster") / "rpc"


def test_the_generated_code_is_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")
    (tmp_path / FOLDER).mkdir(parents=True)
    shutil.copy(ROOT / FOLDER / "snapshot.proto", tmp_path / FOLDER)
    out = ["-I.", "--python_out=.", "--pyi_out=.", str(FOLDER / "snapshot.proto")]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *out], cwd=tmp_path, check=True)
    for name in ("snapshot_pb2.py", "snapshot_pb2.pyi"):
        assert (tmp_path / FOLDER / name).read_text() == (ROOT / FOLDER / name).read_text(), f"{name}: run `make proto`"
