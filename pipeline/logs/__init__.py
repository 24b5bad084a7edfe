"""Turns a foreign log into an event table: parsing, vector clocks, pairing sends with receives, checks."""
