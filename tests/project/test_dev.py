"""`make dev` starts the app anew at an edit of any file of it; e2e/everywhere/test_dev.py looks at the page."""

from __future__ import annotations

from pathlib import Path

import pytest

import dev
from tests.tools import ROOT


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An app of one file of each kind."""
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    for name in ("app.py", "views/pages.py", "sim/core/model.py", "assets/explore/explore.js", "assets/page.css"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    ["app.py", "views/pages.py", "sim/core/model.py", "assets/explore/explore.js", "assets/page.css",
     "assets/explore/explore.html", "scenarios/mine.toml", ".streamlit/config.toml", "pipeline/new/__init__.py"],
)  # fmt: skip
def test_what_is_written_or_added_is_noticed(root: Path, name: str) -> None:
    before = dev.written()
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("changed")
    assert {path for path, _ in before ^ dev.written()} == {root / name}


def test_what_is_removed_is_noticed_and_what_python_compiles_is_not(root: Path) -> None:
    before = dev.written()
    (root / "sim" / "core" / "__pycache__").mkdir()
    (root / "sim" / "core" / "__pycache__" / "model.pyc").write_text("")
    assert dev.written() == before
    (root / "app.py").unlink()
    assert {path for path, _ in before ^ dev.written()} == {root / "app.py"}


def test_every_package_of_the_app_is_looked_at() -> None:
    packages = {path.parent.relative_to(ROOT).parts[0] for path in ROOT.glob("*/__init__.py")}
    assert packages - {"tests", "bench"} <= set(dev.FOLDERS)
    kinds = {path.suffix for path in (ROOT / "assets").rglob("*") if path.is_file()}
    assert kinds - {".json"} <= dev.KINDS  # package.json is for node alone
