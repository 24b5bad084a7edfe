"""The simulator: scenarios, executions, snapshots, causality. It imports no UI, data frame or cluster library."""

VERSION = "0.3.0"  # of the project; nothing else states it (pyproject.toml, API, exports and CITATION.cff read it)
SAME_RUNS = frozenset({"0.2.0", VERSION})  # versions in which a scenario and seed give the same execution, to the byte
FILE_VERSION = 2  # the format of scenario files; raise it when older files would be misread
