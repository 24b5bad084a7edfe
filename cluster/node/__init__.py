"""One process of the system in a process of the operating system: its site, links and event log."""
