"""The panel Property: stable properties and wait-for graphs."""
