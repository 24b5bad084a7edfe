"""The space-time diagram: a scene as a figure, and the figure as lines, arrows and texts."""
