"""Every run of a system that is too large for one machine's memory: its states in parts, stepped by Spark's workers."""
