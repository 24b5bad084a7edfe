"""Durable storage: parts and manifests of snapshots, and the registry with its lease."""
