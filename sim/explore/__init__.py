"""Every run of a small system: all its states, explored in batches, and what is wrong in some of them."""
