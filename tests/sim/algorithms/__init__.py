"""Golden tests of every algorithm: the oracles, and what goes wrong without each rule."""
