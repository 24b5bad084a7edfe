"""The page Compare: one scenario under several algorithms."""
