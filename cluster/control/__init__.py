"""The controller: starts nodes, runs services, notices failures, and rolls the system back."""
