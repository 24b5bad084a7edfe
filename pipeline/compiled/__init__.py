"""Runs of the stock workloads under Chandy-Lamport, compiled with Numba where it is installed."""
