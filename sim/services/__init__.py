"""Rule books outside the graph and the cut."""
