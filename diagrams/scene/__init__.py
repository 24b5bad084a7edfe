"""Executions as scenes: lanes, dots, arrows and cuts, with the steps at which they appear."""
