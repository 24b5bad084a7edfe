"""The Spark session, its own server and Java, and work that shows progress and can be interrupted."""
