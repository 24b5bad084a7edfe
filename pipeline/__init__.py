"""Runs ensembles of executions, reads foreign logs, and audits the cuts of both, on Spark."""
