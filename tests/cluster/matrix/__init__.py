"""Clusters of real processes under every pair of victim, fault and moment, judged by tests/reference."""
