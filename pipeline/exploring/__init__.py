"""Exploration of systems that are too large for one machine's memory: Spark's workers step the states in parts."""
