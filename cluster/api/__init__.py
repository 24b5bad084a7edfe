"""The HTTP API of a live cluster: operations, bodies, problems, and the limits of clients."""
