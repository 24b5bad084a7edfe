"""The workloads, one per file. sim/core/registry.py finds them."""
