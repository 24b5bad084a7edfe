"""Executions from elsewhere as scenarios: cases of COS 418, and event tables."""
