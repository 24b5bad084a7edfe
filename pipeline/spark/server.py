"""`python -m pipeline.spark.server PORT CONF.json`: the app's own Spark Connect server, on the loopback address only.

It runs until its standard input is closed, which happens whenever the process that started it ends, even if killed.
Clients must show the token in the environment variable SPARK_CONNECT_AUTHENTICATE_TOKEN.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

READY = "ready"


def main(port: str, conf_file: str) -> None:
    """Starts the server, prints READY, waits for the end of standard input, then stops and clears up.

    The folder of `conf_file` is the server's scratch folder: it is removed at the end.
    """
    from pyspark import SparkConf, SparkContext  # here: slow, and spark_session.py imports READY

    conf = SparkConf()
    conf.setAll(list(json.loads(Path(conf_file).read_text(encoding="utf-8")).items()))
    conf.set("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
    conf.set("spark.connect.grpc.binding.address", "127.0.0.1")
    conf.set("spark.connect.grpc.binding.port", port)
    context = SparkContext(conf=conf)
    print(READY, flush=True)
    sys.stdin.read()
    context.stop()
    shutil.rmtree(Path(conf_file).parent, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
