"""Sixty small mistakes in copies of the project, and which of them the tests find: `make mutants`.

python -m tests.mutants                 all of tests/mutants.toml
python -m tests.mutants 3 17            those with these numbers
python -m tests.mutants --alone         without running survivors against everything

A mistake meets the tests of its own place first, until one fails. All that survive are then made together in one copy,
which runs `make test` whole: a test that fails there is run against each of them alone. So one whole run is enough.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from tests.copies import copied, surroundings
from tests.tools import ROOT

TABLE = ROOT / "tests" / "mutants.toml"
AT_ONCE = 2
LONGEST_S = 1_200  # of the tests of a place: a mistake may make something endless
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
FAILURES, INTERRUPTED = 1, 2  # exit statuses of pytest; the second also means that nothing could be collected


class Mutant(NamedTuple):
    """A mistake: what stands in a file, what stands there then, and the tests that are run first."""

    number: int
    of: str
    file: str
    was: str
    becomes: str
    tests: tuple[str, ...]
    why: str = ""

    @property
    def is_stale(self) -> bool:
        """Whether the table is older than the file."""
        path = ROOT / self.file
        return not path.is_file() or path.read_text("utf-8").count(self.was) != 1

    def made_in(self, project: Path) -> None:
        """Make the mistake in a copy."""
        path = project / self.file
        path.write_text(path.read_text("utf-8").replace(self.was, self.becomes), "utf-8")


class Found(NamedTuple):
    """A mutant and the first test that fails by it ("": none does)."""

    mutant: Mutant
    by: str


def mutants() -> list[Mutant]:
    """The mutants of the table, numbered from 1."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    places = {name: tuple(tests) for name, tests in table["places"].items()}
    return [Mutant(number, tests=places[own["of"]], **own) for number, own in enumerate(table["mutant"], 1)]


@contextmanager
def mutated(project: Path, made: Iterable[Mutant]) -> Iterator[None]:
    """While it lasts, a copy has these mistakes."""
    before = {project / own.file: (project / own.file).read_text("utf-8") for own in made}
    try:
        for own in made:
            own.made_in(project)
        yield
    finally:
        for path, text in before.items():
            path.write_text(text, "utf-8")


def failing(project: Path, arguments: Sequence[str], seconds: float | None = None) -> list[str]:
    """The tests that fail in a copy; one that does not end in time counts as one."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    try:
        done = subprocess.run(command, **surroundings(project), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return ["(endless)"]
    found = FAILED.findall(done.stdout)
    if done.returncode in (FAILURES, INTERRUPTED) and not found:
        return ["(collecting)"]
    return found


def alone(project: Path, mutant: Mutant, tests: Sequence[str]) -> Found:
    """Whether one of the tests finds a mutant; they are run until one fails."""
    with mutated(project, [mutant]):
        return Found(mutant, next(iter(failing(project, ["-x", "-n", "0", *tests], LONGEST_S)), ""))


def in_its_place(asked: Sequence[Mutant], folder: Path) -> list[Found]:
    """Each mutant against the tests of its place, in as many copies as run at once."""
    free: SimpleQueue[Path] = SimpleQueue()
    for number in range(AT_ONCE):
        free.put(copied(folder / f"{number}" / "project"))

    def one(mutant: Mutant) -> Found:
        project = free.get()
        try:
            found = alone(project, mutant, [path for path in mutant.tests if (project / path).exists()])
        finally:
            free.put(project)
        print(line(found), flush=True)
        return found

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(one, asked))


def against_everything(survivors: Sequence[Mutant], folder: Path) -> list[Found]:
    """All survivors together in one copy against all tests; what fails there, against each of them alone."""
    project = copied(folder / "everything" / "project")
    with mutated(project, survivors):
        suspects = failing(project, [])
    return [alone(project, own, suspects) if suspects else Found(own, "") for own in survivors]


def line(found: Found) -> str:
    """A mutant in a line."""
    own = found.mutant
    said = f"found by {found.by}" if found.by else "not found" + (f": {own.why}" if own.why else "")
    return f"{own.number:3}  {own.of:32}  {own.file}: {own.becomes.strip().splitlines()[-1].strip()[:60]}  {said}"


def summary(found: Sequence[Found]) -> Iterator[str]:
    """The table of all kinds of places."""
    of = Counter(own.mutant.of for own in found)
    caught = Counter(own.mutant.of for own in found if own.by)
    explained = Counter(own.mutant.of for own in found if not own.by and own.mutant.why)
    yield "| place | mutants | found | explained |"
    yield "|---|---|---|---|"
    for name, count in of.items():
        yield f"| {name} | {count} | {caught[name]} | {explained[name]} |"
    yield f"| together | {of.total()} | {caught.total()} | {explained.total()} |"


def main(arguments: Any = None) -> int:
    """Runs what is asked. Returns 1 if a mutant is neither found nor explained, 2 if the table is stale."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--alone", action="store_true", help="do not run survivors against everything")
    asked = parser.parse_args(arguments)
    chosen = [own for own in mutants() if not asked.numbers or own.number in asked.numbers]
    if stale := [own for own in chosen if own.is_stale]:
        for own in stale:
            print(f"mutant {own.number}: {own.file} has not once {own.was.strip()!r}; adapt it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        found = {own.mutant.number: own for own in in_its_place(chosen, Path(folder))}
        survivors = [own.mutant for own in found.values() if not own.by]
        if survivors and not asked.alone:
            for own in against_everything(survivors, Path(folder)):
                found[own.mutant.number] = own
                print(line(own), flush=True)
    print("\n".join(summary(list(found.values()))))
    return any(not own.by and not own.mutant.why for own in found.values())


if __name__ == "__main__":
    sys.exit(main())
