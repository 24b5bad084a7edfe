"""The page Every run: all orders of a small system."""
