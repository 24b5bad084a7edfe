"""The generator of docs/reference/ and CITATION.cff: `make reference` runs it."""
