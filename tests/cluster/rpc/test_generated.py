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


def test_the_service_is_that_of_the_system_design() -> None:
    """Names and numbers of the document; what it lacks has numbers above."""
    from cluster.rpc import snapshot_pb2 as pb

    known = {
        "MarkerRequest": ["snapshot_id", "sender_node_id", "timestamp_ns"],
        "MarkerResponse": ["accepted"],
        "FlushRequest": ["snapshot_id", "node_id", "channel_id", "state_data"],
        "FlushResponse": ["status"],
    }
    assert pb.DESCRIPTOR.package == "distributed.snapshot"
    service = pb.DESCRIPTOR.services_by_name["SnapshotService"]
    assert [method.name for method in service.methods] == ["SendMarker", "FlushChannelState"]
    for name, fields in known.items():
        own = pb.DESCRIPTOR.message_types_by_name[name].fields_by_number
        assert [own[number].name for number in range(1, len(fields) + 1)] == fields
