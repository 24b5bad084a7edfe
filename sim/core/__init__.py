"""The engine: states, actions, rules, schedulers, and the base classes of algorithms, workloads and services."""
