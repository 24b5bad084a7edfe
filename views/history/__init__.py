"""The page History: data folders."""
