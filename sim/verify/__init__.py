"""The checks of a snapshot, on two code paths, and the outcome that a scenario says it must have."""
