"""No test waits for a time: each waits for a condition, through tests/waiting.py, and within a budget."""

from __future__ import annotations

import re

from tests.tools import ROOT, check_none

WAIT = re.compile(r"\bsleep\((?!0\))|wait_for_timeout\(")
SHARED_CLOCK = re.compile(r"setattr\((\"[\w.]*\.time\.|time, )")  # a loop in another thread reads it, too
ALLOWED = "# time itself is tested"
ITSELF = ("tests/waiting.py", "tests/project/test_waits.py")


def waits(text: str) -> list[int]:
    """The numbers of the lines that wait for a time, and do not say that they test time itself."""
    lines = enumerate(text.splitlines(), 1)
    return [number for number, line in lines if WAIT.search(line) and ALLOWED not in line]


def test_no_test_waits_for_a_time() -> None:
    paths = sorted((ROOT / "tests").rglob("*.py"))
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}
    check_none(f"{name}:{line}" for name, text in texts.items() if name not in ITSELF for line in waits(text))


def test_no_test_sets_the_clock_of_all() -> None:
    """A module's own name `time` may be replaced; the functions of the module time are shared by all threads."""
    paths = sorted((ROOT / "tests").rglob("*.py"))
    check_none(path for path in paths if SHARED_CLOCK.search(path.read_text("utf-8")))


def test_this_test_sees_what_waits() -> None:
    assert waits("time.sleep(1)\nawait asyncio.sleep(0)\npage.wait_for_timeout(9)") == [1, 3]
    assert waits(f"time.sleep(1)  {ALLOWED}: a clock") == []
