"""The Spark session, the local server and its Java, progress reports, and interruption of jobs."""
