"""Tests of single workloads."""
