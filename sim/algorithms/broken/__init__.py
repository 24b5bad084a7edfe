"""Chandy and Lamport's rules with one of them broken, one per file. sim/core/broken_rule.py finds them."""
