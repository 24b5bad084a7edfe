"""A process may end at any moment, also while a test looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.spark import processes
from tests.pipeline.spark.processes import command_of, is_running, java_of

ENDED = 2**22 + 1  # beyond the ids that a kernel gives


def test_the_command_of_a_process_that_has_ended_is_empty() -> None:
    assert command_of(ENDED) == [""]
    assert not is_running(ENDED)


def test_a_process_that_ends_while_it_is_looked_at_is_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter(["/usr/bin/java\0-jar\0"])

    def once(file: Path) -> str:
        for text in looks:
            return text
        raise FileNotFoundError(file)

    monkeypatch.setattr(processes, "descendants", lambda server: [ENDED, ENDED])
    monkeypatch.setattr(Path, "read_text", once)
    assert java_of(1) == [ENDED]


def test_a_process_that_ends_after_it_was_there_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(file: Path) -> str:
        raise ProcessLookupError(file)

    monkeypatch.setattr(processes.os, "kill", lambda pid, signal: None)
    monkeypatch.setattr(Path, "exists", lambda file: True)
    monkeypatch.setattr(Path, "read_text", gone)
    assert not is_running(ENDED)
