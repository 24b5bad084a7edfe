"""The snapshot algorithms, one per file. sim/core/registry.py finds them."""
