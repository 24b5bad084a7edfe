"""Unaligned barriers: `rules` has the source and its rules, the other modules words, costs and the timeout."""
