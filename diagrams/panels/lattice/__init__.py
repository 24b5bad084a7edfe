"""The panel Lattice: all consistent cuts of a run."""
