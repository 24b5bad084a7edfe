"""What tests of all packages share: a module that is dropped into a package, and the examples of the docs."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def dropped(package: ModuleType, name: str, source: str, folder: Path) -> Iterator[None]:
    """While it lasts, a module of that name lies in a package."""
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    package.__path__.append(str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        package.__path__.remove(str(folder))
        sys.modules.pop(f"{package.__name__}.{name}", None)
        vars(package).pop(name, None)


def example(path: str) -> str:
    """The module of that path that docs/architecture.md gives as an example."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.search(rf"This is `{re.escape(path)}`, complete:\n\n```python\n(.*?)```", text, re.DOTALL)
    assert found, f"the docs have no example {path}"
    return found[1]
