"""ES modules -> one script: a page asks for one file, and there is no build step.

Each module becomes a function that keeps the module's names to itself and returns its exports; it comes after the
modules that it imports. A module may use this much of the syntax, each on one line, from its first letter on:

    import { name, another } from "./folder/file.js";
    export const name = ...         or: function, async function, class
    export default function name    or: async function; the script exports that of the entry

Any other line that begins with `import` or `export` is an error; so is a name that is imported and not exported, or
imported and not used, and a circle of imports. Outside functions there is no `await`. So each file is also a module as
browsers and node know them: tests load them one by one.
"""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from typing import NamedTuple

_IMPORT = re.compile(r'import \{ (\w+(?:, \w+)*) \} from "(\.\.?/[\w./]+)";')
_EXPORT = re.compile(r"export (default (?=async|function))?((?:const|class|(?:async )?function) (\w+)\b.*)")


class ModuleError(ValueError):
    """A module that cannot be joined; the text names its file."""


class Module(NamedTuple):
    """One file: the names it imports, by file; its exports, by name; and its lines as the body of a function."""

    imports: dict[Path, list[str]]
    exports: dict[str, str]
    lines: list[str]


def join(entry: Path) -> str:
    """The script of `entry` and all that it imports. Raises ModuleError."""
    modules: dict[Path, Module] = {}
    waiting = [entry.resolve()]
    while waiting:
        path = waiting.pop()
        if path not in modules:
            modules[path] = read(path)
            waiting += modules[path].imports
    for path, module in modules.items():
        for source, names in module.imports.items():
            if missing := [name for name in names if name not in modules[source].exports]:
                raise ModuleError(f"{path}: imports {', '.join(missing)}, which {source} does not export")
    try:
        order = list(TopologicalSorter({path: module.imports for path, module in modules.items()}).static_order())
    except CycleError as error:
        raise ModuleError(f"imports go in a circle: {' <- '.join(map(str, error.args[1]))}") from None
    number = {path: place for place, path in enumerate(order)}
    script = [f"const modules = []; // {len(order)} modules, joined by diagrams/browser/modules.py"]
    for path in order:
        imports, exports, lines = modules[path]
        taken = [f"const {{ {', '.join(names)} }} = modules[{number[source]}];" for source, names in imports.items()]
        given = ", ".join(f"{name}: {own}" for name, own in exports.items())
        head = f"modules.push((() => {{ // {path.name}"
        script += ["", head, *taken, *lines, f"return {{ {given} }};", "})());"]
    if "default" in modules[order[-1]].exports:
        script += ["", "export default modules.at(-1).default;"]
    return "\n".join([*script, ""])


def read(path: Path) -> Module:
    """Read one file. Raises ModuleError at any other syntax."""
    imports: dict[Path, list[str]] = {}
    exports: dict[str, str] = {}
    lines = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if found := _IMPORT.fullmatch(line):
            source = (path.parent / found[2]).resolve()
            if not source.is_file() or source in imports:
                raise ModuleError(f"{path}:{number}: {found[2]} is not there, or imported twice")
            imports[source] = found[1].split(", ")
        elif found := _EXPORT.fullmatch(line):
            exports["default" if found[1] else found[3]] = found[3]
            lines.append(found[2])
        elif re.match(r"(import|export)\b", line):
            raise ModuleError(f"{path}:{number}: diagrams/browser/modules.py cannot join this line: {line}")
        else:
            lines.append(line)
    text = "\n".join(lines)
    for name in chain(*imports.values()):
        if not re.search(rf"\b{name}\b", text):
            raise ModuleError(f"{path}: imports {name} and does not use it")
    return Module(imports, exports, lines)
