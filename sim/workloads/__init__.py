"""What processes compute, one workload per file; each is found by its presence here."""
