"""`python -m pipeline.spark.server PORT CONF.json`: the app's own Spark Connect server, on the loopback address only.

It runs until its standard input ends, which it does when the process that started it is gone, whatever way.
The token that clients must show is taken from the environment, SPARK_CONNECT_AUTHENTICATE_TOKEN.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

READY = "ready"


def main(port: str, conf_file: str) -> None:
    """Starts the server, says so on standard output, waits for the end of standard input, clears up.

    The folder of `conf_file` is the server's scratch folder: it goes with the server.
    """
    from pyspark import SparkConf, SparkContext  # whoever only asks for READY need not wait for this

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
