"""Edits: functions from an execution to the next one, in words, and in links."""
