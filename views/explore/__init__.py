"""The page Explore: one scenario and its diagram."""
