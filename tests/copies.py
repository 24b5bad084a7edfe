"""A copy of the project, in which a test may add a file or make a mistake, and run tests there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.tools import ROOT

SHARED = ROOT.parent / "shared"


def files() -> list[str]:
    """The files of the project by their paths: those that git knows or would take; without git, all but hidden ones."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [str(path) for path in found if not {"__pycache__", ".venv"} & set(path.parts)]


def copied(project: Path) -> Path:
    """Copies the project into a new folder, with its compiled modules, and what lies beside it. Returns the folder."""
    project.mkdir(parents=True)
    for name in files():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, project / name)
    if SHARED.is_dir():
        (project.parent / SHARED.name).symlink_to(SHARED)
    return project


def surroundings(project: Path) -> dict[str, Any]:
    """For subprocess: what makes Python, its children too, use the packages of a copy."""
    dropped = ("PYTEST_", "JAVA_TOOL_OPTIONS", "NODE_OPTIONS")  # they refuse what the asking test must not start
    own = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {"cwd": project, "env": {**own, "PYTHONPATH": str(project)}, "text": True}
