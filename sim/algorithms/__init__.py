"""One rule book per file; each is found by its presence here."""
