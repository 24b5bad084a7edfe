"""The snapshot algorithms, one per file or folder. sim/core/registry.py finds them."""
