"""Figures as still drawings: lines, arrows, areas, discs and texts on a sheet."""
