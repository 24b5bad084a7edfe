"""The archive of Spark's classes: used where it is whole and ours, made again where not; it never breaks a start."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pipeline.spark import class_archive, making_archive
from pipeline.spark.java import Java, find_java
from pipeline.spark.local_server import Server


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(class_archive.OWN_OPTIONS, raising=False)
    return find_java(tmp_path)


@pytest.fixture
def archive(java: Java, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an archive that no Java can use; nothing is started for it."""

    def write(command: list[str]) -> None:
        made = [word.rpartition("=")[2] for word in command if word.endswith(".jsa")]
        Path(made[-1]).write_bytes(os.urandom(4_000_000))

    monkeypatch.setattr(making_archive, "_run", write)
    making_archive.make(java)
    (folder,) = (Path(os.environ["XDG_CACHE_HOME"]) / "consistent-cut").iterdir()
    return folder


def test_it_is_used_as_long_as_it_is_whole_and_this_users_alone(java: Java, archive: Path) -> None:
    assert f"-XX:SharedArchiveFile={archive}/spark.jsa" in class_archive.options(java)
    archive.chmod(0o777)
    assert class_archive.options(java) == []
    archive.chmod(0o700)
    everything = archive / "spark.jsa"
    everything.write_bytes(everything.read_bytes()[:-1] + b"?")
    assert class_archive.options(java) == []
    making_archive.make(java)
    assert class_archive.options(java)


def test_a_java_that_cannot_use_it_starts_without_it(java: Java, archive: Path) -> None:
    command = [java.home / "bin" / "java", *class_archive.options(java), "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert str(archive) in str(command) and "version" in done.stderr and "rror" not in done.stderr


@pytest.mark.long("a Spark whose archive of classes is damaged")
def test_a_spark_that_cannot_use_it_starts_without_it(java: Java, archive: Path) -> None:
    server = Server()
    try:
        assert str(archive) in (server.scratch / "conf.properties").read_text()
        server.wait()
    finally:
        server.stop()


def test_who_sets_options_of_java_gets_no_archive(java: Java, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(class_archive.OWN_OPTIONS, "-Xmx1g")
    assert class_archive.options(java) == []
    monkeypatch.setattr(making_archive.threading, "Thread", None)  # nothing is begun either
    making_archive.make_later(java)


def test_old_ones_are_removed(java: Java, archive: Path) -> None:
    for number in range(3):
        old = archive.with_name(f"classes-{number}")
        old.mkdir()
        (old / "sums").touch()
        os.utime(old, (number, number))
    archive.with_name("classes-unfinished").mkdir()
    making_archive.make(java)
    left = sorted(archive.parent.iterdir())
    assert len(left) == making_archive.KEPT and archive in left


def test_what_fails_leaves_nothing(java: Java, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(command: list[str]) -> None:
        raise OSError

    monkeypatch.setattr(making_archive, "_run", fail)
    with pytest.raises(OSError):
        making_archive.make(java)
    assert list(archive.parent.iterdir()) == [archive]
