"""Cuts of event tables of any size: verdicts, and what each cut finds in the channels."""
