"""The attacks that the app must hold under, a file for each part of it: none may freeze it, get in, or lose anything.

They are quick tests and run in `make quick` too: all of them together take less than a minute, start no Spark and no
browser, and lower the limits that they attack by monkeypatch. Attacks that need Spark lie in tests/pipeline/spark, and
those that need a browser in tests/e2e.
"""
