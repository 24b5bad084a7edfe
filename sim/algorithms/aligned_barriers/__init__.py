"""Aligned barriers: `rules` has the paper and its rules, the other modules its graph, words, costs and option."""
