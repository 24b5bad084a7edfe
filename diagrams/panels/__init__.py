"""The panels beside the diagram, one folder each, and the legend."""
