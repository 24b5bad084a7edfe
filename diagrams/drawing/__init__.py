"""A figure drawn for a sheet of a given size, as lines, arrows, areas, discs and texts."""
