"""The prose linter: rules for sentences that a machine can keep, over docstrings, page texts, stories and docs.

`python -m tests.project.prose [PATH ...]` lists what breaks them, by default in the whole project.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.tools import ROOT

GENERATED = ROOT / "docs" / "reference"
PACKAGES = ("sim", "diagrams", "pipeline", "cluster", "views")
MOST_ON_A_PAGE, MOST_ELSEWHERE = 20, 25  # words of a sentence
HEADLESS = re.compile(r"(What|Who|Whose|Whom|Where|How|Which|That|Whoever|Whatever)\b")
BANNED = {  # a pattern, and what to write instead
    r"somebody|someone|anybody|anyone|nobody|no one|everybody|everyone|whoever|whatever":
        "name the user, process, node, controller or visitor",
    r"lay(s|ing)? bare|laid bare": "the smallest counterexample",
    r"slips?": "broken rule",
    r"weather": "link conditions",
    r"vaults?": "checkpoint store",
    r"retold|told again|tell again": "replay",
    r"in(to)? the books|the books|does the books": "audit",
    r"the documents?('s?)?": "name the source",
    r"the world": "environment",
}  # fmt: skip
_BANNED = {re.compile(rf"\b({pattern})\b", re.I): instead for pattern, instead in BANNED.items()}
_CODE = re.compile(r"```[\s\S]*?```|^(?: {4}|\t).*$|`[^`]*`", re.M)
_LINK = re.compile(r"\]\([^)]*\)|https?://\S+")
_SOURCE = re.compile(r'"[^"]*"')  # the title of a paper
_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bet al)(?<!\b[A-Z])[.!?:;](?=\s|$)|\n\s*\n|\n\s*[-*\d]+[.)]?\s|\|")


class Text(NamedTuple):
    """A text, its place, and the words that its sentences may have."""

    where: str
    text: str
    most: int
    is_docstring: bool = False


def docstrings(path: Path) -> Iterator[Text]:
    """The docstrings of a module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            found = ast.get_docstring(node) or ""
            yield Text(f"{path.relative_to(ROOT)}:{node.body[0].lineno}", found, MOST_ELSEWHERE, is_docstring=True)


def page_texts(path: Path) -> Iterator[Text]:
    """The texts of a file of words: its string constants, with a hole for each value."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    said = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner | said:
            text = node.value
        else:
            continue
        yield Text(f"{path.relative_to(ROOT)}:{node.lineno}", text, MOST_ON_A_PAGE)


def story(path: Path) -> Iterator[Text]:
    """The words of a bundled scenario."""
    found = tomllib.loads(path.read_text("utf-8"))
    for key in ("title", "summary", "description", "story", "question"):
        if isinstance(found.get(key), str):
            yield Text(f"{path.relative_to(ROOT)}: {key}", found[key], MOST_ON_A_PAGE)


def texts_of(path: Path) -> Iterator[Text]:
    """All texts of a file."""
    if path.suffix == ".py":
        yield from docstrings(path)
        if path.name == "words.py" and path.is_relative_to(ROOT / "views"):
            yield from page_texts(path)
    elif path.suffix == ".toml":
        yield from story(path)
    elif path.suffix == ".md":
        yield Text(str(path.relative_to(ROOT)), path.read_text("utf-8"), MOST_ELSEWHERE)


def complaints(own: Text) -> Iterator[str]:
    """The rules that a text breaks, a sentence each."""
    if own.is_docstring and (headless := HEADLESS.match(own.text)):
        yield f"{own.where}: begins with {headless[1]!r}; begin with a noun phrase or a verb"
    plain = _SOURCE.sub('"X"', _LINK.sub("]", _CODE.sub("X", own.text)))
    for pattern, instead in _BANNED.items():
        yield from (f"{own.where}: {found[0]!r}; {instead}" for found in pattern.finditer(plain))
    for sentence in _END.split(plain):
        if len(words := re.findall(r"[\w'’-]+", sentence)) > own.most:
            yield f"{own.where}: {len(words)} words, at most {own.most}: {' '.join(words[:8])} ..."


def files(*roots: Path) -> Iterator[Path]:
    """All files with prose below some paths (none: of the project), but generated pages."""
    everything = roots or (*(ROOT / name for name in (*PACKAGES, "scenarios", "docs")), *ROOT.glob("*.md"))
    for root in everything:
        found = [root] if root.is_file() else sorted(root.rglob("*.*"))
        yield from (path for path in found if GENERATED not in path.parents)


if __name__ == "__main__":
    found = [
        line
        for path in files(*(Path(name).resolve() for name in sys.argv[1:]))
        for text in texts_of(path)
        for line in complaints(text)
    ]
    print(*found, f"{len(found)} complaints", sep="\n")
    sys.exit(bool(found))
