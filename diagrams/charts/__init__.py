"""Charts of ensembles and explorations."""
