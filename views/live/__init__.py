"""The page Live: a cluster of real processes."""
