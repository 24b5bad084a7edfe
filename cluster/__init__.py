"""The rule books of sim in processes of the operating system, over sockets, with snapshots that survive their end."""
