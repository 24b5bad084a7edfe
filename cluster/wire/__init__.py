"""Values, frames and connections: how processes of the operating system talk."""
