"""Numba's options for the functions of the kernel, and the cache of the compiled code.

Numba keeps compiled code in __pycache__. It compiles a function again if the function's own file has changed, but not
if another file has. So the name of the cached function contains a checksum of all modules of the kernel.
"""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Callable
from typing import Any

from numba import njit

MODULES = (
    "compiling",
    "draws",
    "due",
    "kernel",
    "memory",
    "turns",
)  # with compiled functions, their constants and types

# Nothing in the kernel makes an array, so none is counted: counting references would take most of the time.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}
called = njit(**_UNCOUNTED)
inlined = njit(forceinline=True, **_UNCOUNTED)


def checksum() -> str:
    """A checksum of the source of all MODULES; also if they are in a zip, as on workers."""
    sources = (pkgutil.get_data(__package__, f"{module}.py") or b"" for module in MODULES)
    return hashlib.sha256(b"".join(sources)).hexdigest()[:16]


def cached(function: Callable[..., None]) -> Any:
    """Compiles a function of the kernel that runs without the interpreter's lock, and keeps the code in the cache."""
    function.__qualname__ = f"{function.__qualname__}_{checksum()}"
    return njit(nogil=True, cache=True, **_UNCOUNTED)(function)
