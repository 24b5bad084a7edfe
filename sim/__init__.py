"""The engine: scenarios, executions, snapshots, causality. It knows no UI, no data frame and no cluster."""
