"""Ensembles: grids of parameters, their runs, measures, summaries and predictions."""
