"""What a live cluster answers over HTTP: snapshots, epochs, nodes, faults, events and figures."""
