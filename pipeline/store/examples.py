"""The finished examples that come with the app: data folders beside the user's, made by pipeline/examples.py."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples"
ENSEMBLE = FOLDER / "bank"
SIZING = FOLDER / "sizing"
LOG = FOLDER / "order"
LOG_FILE = FOLDER / "order.log"
TRADEOFFS = FOLDER / "tradeoffs.json"  # made by `make tradeoffs`
