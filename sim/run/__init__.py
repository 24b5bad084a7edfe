"""Running a scenario; the messages and snapshots of the finished execution."""
