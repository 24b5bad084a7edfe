"""Event logs read again: as a scenario, an audit, segments, and holdings at any moment."""
