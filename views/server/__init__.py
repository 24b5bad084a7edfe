"""The app as a server: limits, addresses, uploads, background jobs."""
