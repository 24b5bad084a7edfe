"""The browser's side: its scripts, and scenes as plain JSON."""
