"""Chandy and Lamport's rules with one slip each, one per file. sim/core/slip.py finds them."""
