"""The place and the use of an archive of Spark's classes, with which Java starts faster (class-data sharing).

It lies in a folder that only this user may write, since Java runs its content. There is one archive for each Java and
PySpark. If it does not fit or is damaged, Java starts without it. pipeline/spark/making_archive.py makes it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from pathlib import Path

from pipeline.spark.java import Java

OWN_OPTIONS = "JAVA_TOOL_OPTIONS"  # a user who sets it gets these options, and no archive
BASE, ALL, SUMS = "base.jsa", "spark.jsa", "sums"  # Java's own classes; Spark's; what they add up to


def options(java: Java) -> list[str]:
    """The options with which Java uses the archive; none if there is no intact archive."""
    prefix = prefix_of(java)
    for folder in [] if prefix is None else sorted(prefix.parent.glob(f"{prefix.name}*")):
        if _is_intact(folder):
            os.utime(folder)
            return using(folder / ALL)
    return []


def using(file: Path) -> list[str]:
    """The options with which Java uses a file if it fits, and ignores it silently otherwise.

    The file of Spark's classes names that of Java's own classes. If the options named both, Java 17 would not start
    with a damaged one.
    """
    return ["-Xshare:auto", f"-XX:SharedArchiveFile={file}", "-Xlog:disable"]


def prefix_of(java: Java) -> Path | None:
    """The common beginning of the folders with archives of this Java and PySpark; None if there can be none."""
    import pyspark

    if OWN_OPTIONS in os.environ:
        return None
    jars = Path(pyspark.__file__).parent / "jars"
    release = java.runtime / "release"
    try:
        changed = [file.stat().st_mtime_ns for file in (jars, release)]
    except OSError:
        return None
    key = hashlib.sha256(repr((str(java.runtime), str(jars), pyspark.__version__, changed)).encode()).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    prefix = cache / "consistent-cut" / f"classes-{key[:16]}-"
    return None if any(letter in str(prefix) for letter in ':"\\ ') else prefix  # which have a meaning in options


def _is_intact(folder: Path) -> bool:
    """Whether there is an archive that only this user can have written, and that is unchanged since."""
    try:
        return is_private(folder) and (folder / SUMS).read_text(encoding="utf-8") == sums(folder)
    except (OSError, UnicodeDecodeError):
        return False


def is_private(folder: Path) -> bool:
    """Whether it is a folder that no other user may write."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o022


def sums(folder: Path) -> str:
    """The checksums of the files of an archive."""
    return " ".join(str(_sum(folder / name)) for name in (BASE, ALL))


def _sum(file: Path) -> int:
    found = 0
    with file.open("rb") as opened:
        while piece := opened.read(1 << 20):
            found = zlib.crc32(piece, found)
    return found
