"""The page Traces: foreign logs."""
