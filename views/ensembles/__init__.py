"""The page Ensembles: many runs, and their charts."""
