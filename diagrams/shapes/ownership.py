"""The metadata of every exported file: the program that wrote it, and the person whom it belongs to."""

from __future__ import annotations

from sim import VERSION

MADE_WITH = f"Consistent Cut {VERSION}"
OWNERSHIP = "Exported figures and files belong to the person who made them."  # README.md says it, too
NOTE = f"Made with {MADE_WITH}. {OWNERSHIP}"
