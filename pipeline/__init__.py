"""Floor 1: ensembles of executions and logs that others wrote, run, read and audited on Spark."""
