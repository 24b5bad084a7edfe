"""A property draws the same examples on every worker, whatever other tests have loaded there."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.tools import drawn


@pytest.mark.slow
def test_what_is_drawn_does_not_depend_on_which_modules_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = drawn(st.integers(), 300)
    with tempfile.TemporaryDirectory() as folder:  # Hypothesis passes over what has "test" in its path, as tmp_path has
        (Path(folder) / "loaded_elsewhere.py").write_text(f"NUMBERS = {[*range(10**9, 10**9 + 500)]}")
        monkeypatch.syspath_prepend(folder)
        importlib.import_module("loaded_elsewhere")
        assert drawn(st.integers(), 300) == wanted
