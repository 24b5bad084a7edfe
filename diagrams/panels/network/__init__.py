"""The panel Network: the graph of processes and channels."""
