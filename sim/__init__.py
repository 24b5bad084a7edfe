"""The engine: scenarios, executions, snapshots, causality. It knows no UI, no data frame and no cluster."""

VERSION = "0.2.0"  # a scenario and this reproduce an execution, to the byte
FILE_VERSION = 2  # of scenario files; raised when an older one could be misread
