"""The engine: scenarios, executions, snapshots, causality. It knows no UI, no data frame and no cluster."""

VERSION = "0.1.0"  # a scenario and this reproduce an execution, to the byte
