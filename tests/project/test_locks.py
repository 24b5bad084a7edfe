"""The locks are those of the pins that people edit: `make lock` makes them anew after an edit of requirements*.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.tools import ROOT

KINDS = ("build", "app", "fast", "dev")
PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[\w,-]+\])?==([\w.]+)")
ENTRY = re.compile(
    r"(?P<pin>[a-z0-9-]+==[\w.]+)(?: ; [^\\\n]+)? \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)"
)
ABOUT = re.compile(r"#.*|    # .*|")


class Lock(NamedTuple):
    """A lock: its text, and the pinned versions by package (two, where a marker chooses)."""

    text: str
    versions: dict[str, set[str]]


def stem(kind: str) -> str:
    return "requirements" if kind == "app" else f"requirements-{kind}"


def pins(kind: str) -> Iterator[tuple[str, str]]:
    """(package, version) of each line of a file that people edit, and of the files that it names."""
    for line in (ROOT / f"{stem(kind)}.txt").read_text("utf-8").splitlines():
        if named := {f"-r {stem(other)}.txt": other for other in KINDS}.get(line):
            yield from pins(named)
            continue
        pin = PIN.fullmatch(line.partition("#")[0].strip())
        assert pin, f"{stem(kind)}.txt: {line} is no pin, such as plotly==7.1.0"
        yield re.sub(r"[-_.]+", "-", pin[1]).lower(), pin[2]


def lock(kind: str) -> Lock:
    text = (ROOT / f"{stem(kind)}.lock").read_text("utf-8")
    versions: dict[str, set[str]] = {}
    for entry in ENTRY.finditer(text):
        name, _, version = entry["pin"].partition("==")
        versions.setdefault(name, set()).add(version)
    return Lock(text, versions)


@pytest.mark.parametrize("kind", KINDS)
def test_every_pin_is_in_the_lock_with_its_version(kind: str) -> None:
    versions = lock(kind).versions
    wrong = [f"{name}=={version}" for name, version in pins(kind) if versions.get(name) != {version}]
    assert wrong == [], "not in the lock: run `make lock`"


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_has_only_versions_with_their_hashes_and_names_no_host(kind: str) -> None:
    """So nothing is installed that was not locked, and each user's own index serves it."""
    rest = [line for line in ENTRY.sub("", lock(kind).text).splitlines() if not ABOUT.fullmatch(line)]
    assert rest == []
    assert not re.search(r"://|--(extra-)?index-url|--find-links|@ ", lock(kind).text)


def test_tests_run_on_the_versions_that_users_install() -> None:
    dev = lock("dev").versions
    for installed in (lock("app").versions, lock("fast").versions):
        assert {name: dev.get(name) for name in installed} == installed
    assert lock("build").versions["pip"] == dev["pip"]


def test_make_installs_nothing_but_locks() -> None:
    """Also not for building: what comes as source is built with what the lock of `build` has."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^INSTALL := .* --require-hashes$", makefile, re.MULTILINE)
    assert re.search(
        r"^PACKAGES := --only-binary :all: --no-binary pyspark --no-build-isolation$", makefile, re.MULTILINE
    )
    installs = [
        line for line in makefile.splitlines() if line.startswith("\t") and re.search(r"INSTALL|pip install", line)
    ]
    assert installs and all(re.search(r"\$\(INSTALL\).* -r requirements(-\w+)?\.lock$", line) for line in installs)
