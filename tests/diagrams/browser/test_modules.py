"""The browser's scripts as ES modules, and the one script that they are joined into."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diagrams.browser import modules
from diagrams.browser import scripts as browser
from tests.cases import each
from tests.javascript import IN_BOTH

SLIDERS = browser.ASSETS / "sliders"
ENTRIES = [
    browser.EXPLORE / "explore.js",
    browser.EXPLORE / "still.js",
    browser.COMPARE / "compare.js",
    browser.LIVE / "live.js",
    SLIDERS / "sliders.js",
]
FILES = sorted(
    path for folder in (browser.EXPLORE, browser.COMPARE, browser.LIVE, SLIDERS) for path in folder.rglob("*.js")
)
COMPUTING = sorted((browser.EXPLORE / "run").glob("*.js"))


def folder(where: Path, **sources: str) -> Path:
    """The modules a.js, b.js, ... in a folder; the entry is a.js."""
    for name, source in sources.items():
        (where / f"{name}.js").write_text(source, "utf-8")
    return where / "a.js"


def test_every_file_and_every_export_is_needed_by_a_page() -> None:
    read = {path: modules.read(path) for path in FILES}
    imports = (used for module in read.values() for used in module.imports.items())
    imported = {(source, name) for source, names in imports for name in names}
    exported = {(path, name) for path, module in read.items() for name in module.exports if name != "default"}
    assert exported == imported
    assert {path for path, _ in imported} | set(ENTRIES) == set(FILES)


@pytest.mark.slow
@each("path", [ENTRIES[0], *COMPUTING])
def test_a_module_can_be_loaded_alone(run_module: Callable[..., Any], path: Path) -> None:
    assert set(run_module("(module) => Object.keys(module)", [path])) == set(modules.read(path).exports)


@pytest.mark.slow
@IN_BOTH
def test_a_joined_script_runs_and_a_name_that_is_not_exported_cannot_be_seen(
    run_module: Callable[..., Any], tmp_path: Path
) -> None:
    entry = folder(
        tmp_path,
        a='import { shown } from "./b.js";\nconst own = 1;\nexport default function see() {\n'
        "  return [shown(), own, typeof hidden, typeof Hidden, typeof shownToB];\n}\n",
        b='import { shownToB } from "./c.js";\nconst hidden = 2;\nconst own = 3;\n'
        "export function shown() {\n  return hidden + own + shownToB;\n}\nclass Hidden {}\n",
        c="export const shownToB = 4;\n",
    )
    joined = tmp_path / "joined.mjs"
    joined.write_text(modules.join(entry), "utf-8")
    assert run_module("(module) => module.default()", [joined]) == [9, 1, "undefined", "undefined", "undefined"]


def test_a_module_follows_those_it_imports(tmp_path: Path) -> None:
    entry = folder(
        tmp_path,
        a='import { y } from "./c.js";\nimport { x } from "./b.js";\nuse(x, y, "in a");\n',
        b='import { y } from "./c.js";\nexport const x = y;\n',
        c="export const y = 1;\n",
    )
    places = [modules.join(entry).index(text) for text in ("const y = 1", "const x = y", "in a")]
    assert places == sorted(places)


B = "export const x = 1;\n"
WRONG = {
    "a circle": ('import { x } from "./b.js";\nexport const y = x;', 'import { y } from "./a.js";\nexport const x = y;',
                 ["circle", "a.js", "b.js"]),
    "a name that is not exported": ('import { z } from "./b.js";\nz();', B, ["a.js: imports z", "b.js does not"]),
    "a name that is not used": ('import { x } from "./b.js";', B, ["a.js: imports x and does not use it"]),
    "a file that is not there": ('import { x } from "./c.js";\nx();', B, ["a.js:1: ./c.js is not there"]),
    "two imports of one file": ('import { x } from "./b.js";\nimport { x } from "./b.js";', B, ["a.js:2", "twice"]),
    "a default import": ('import x from "./b.js";\nx();', B, ["a.js:1", 'import x from "./b.js";']),
    "an import of everything": ('\nimport * as b from "./b.js";\nb.x();', B, ["a.js:2"]),
    "an import of a package": ('import { x } from "b";\nx();', B, ["a.js:1"]),
    "a name that changes": ("export let x = 1;", B, ["a.js:1", "export let x"]),
    "a list of exports": ("const x = 1;\nexport { x };", B, ["a.js:2"]),
    "an export of another's": ('export * from "./b.js";', B, ["a.js:1"]),
}  # fmt: skip


@each("name", WRONG)
def test_what_cannot_be_joined_is_an_error_that_names_the_file(tmp_path: Path, name: str) -> None:
    a, b, words = WRONG[name]
    with pytest.raises(modules.ModuleError) as error:
        modules.join(folder(tmp_path, a=a, b=b))
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("script", [browser.script(), browser.still()], ids=["app", "still"])
def test_a_script_can_stand_in_a_page(script: str) -> None:
    assert "</script" not in script.lower()
    assert "<!--" not in script
    assert not re.search(r"^import\b", script, re.MULTILINE)


@pytest.mark.slow
def test_only_the_app_is_called_from_outside() -> None:
    assert len(re.findall(r"^export\b", browser.script(), re.MULTILINE)) == 1
    assert not re.search(r"^export\b", browser.still(), re.MULTILINE)
