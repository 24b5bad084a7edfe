"""Logs that grow, followed by Spark Structured Streaming: their events, and the verdicts on their snapshots."""
