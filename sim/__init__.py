"""The simulator: scenarios, executions, snapshots, causality. It imports no UI, data frame or cluster library."""

VERSION = "0.2.0"  # the same scenario and version give the same execution, to the byte
FILE_VERSION = 2  # the format of scenario files; raise it when older files would be misread
