"""Running a scenario, and what the finished execution holds: its messages and its snapshots."""
