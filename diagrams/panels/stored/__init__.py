"""The panel Stored: stored snapshots, coordinator and recovery."""
