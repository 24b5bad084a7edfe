"""Ensembles: a grid of parameters, its runs, what is measured of them, and summaries."""
