"""What things look like: executions as scenes, scenes as figures and files. Pure functions."""
