"""Stable properties and how a snapshot tells whether they hold, one per file. sim/core/registry.py finds them."""
