"""Happened-before, vector clocks, cuts and their lattice, computed from an event table."""
