"""Who is hit by what, and when: clusters of real processes under every pair of these, judged by tests/reference."""
