"""Cuts of event tables of any size: whether they are consistent, and which messages their channels hold."""
