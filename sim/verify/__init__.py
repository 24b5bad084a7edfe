"""The checks of a snapshot, computed in two independent ways, and the expected outcome of a scenario."""
