"""Scenarios from other formats: cases of COS 418, and event tables."""
