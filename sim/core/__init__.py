"""The engine: states, actions, rules and schedulers, and the interfaces of algorithms, workloads and services."""
