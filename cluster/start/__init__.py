"""The start of a cluster: its description, its folder, its registry and storage; then it runs in the foreground."""
