"""From a foreign log to an event table: text, vector clocks, pairs of sends and receives, checks."""
