"""What follows from an event table alone: happened-before, vector clocks, cuts and their lattice."""
