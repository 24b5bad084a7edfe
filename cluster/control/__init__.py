"""The controller: starts nodes, runs services, notices failures, and recovers."""
