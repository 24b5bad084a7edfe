"""Edits of a scenario: applying them, describing them in words, and sharing them in links."""
