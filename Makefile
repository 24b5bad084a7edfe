# Everything runs in .venv, made on first use from the locks: every package that is needed, with version and hashes.
# The pins that people edit are in requirements*.txt; `make lock` makes the locks of them.
PYTHON ?= python3
BIN := .venv/bin
# PySpark comes as source only; it is built with the locked setuptools.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes
PACKAGES := --only-binary :all: --no-binary pyspark --no-build-isolation
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"

# Compiled modules are kept, whatever the environment says: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help app class fast dev quick test long lint mutants bench lock audit picture reference examples tradeoffs proto broken clean

help: ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

app: .venv/app ## install what is needed and run the app on http://127.0.0.1:8501
	$(BIN)/streamlit run app.py

class: .venv/app ## the app for a class: other computers in this network can open it, with limits for each (docs/deploy.md)
	CONSISTENT_CUT_CLASS=1 $(BIN)/streamlit run app.py --server.address 0.0.0.0 --browser.serverAddress \
	  "$$($(BIN)/python -c 'from streamlit.net_util import get_internal_ip as mine; print(mine())')"

fast: .venv/fast ## install Numba as well, which compiles the runs of ensembles

dev: .venv/dev ## the app for those who work on it: an edit of Python, JS, CSS or a scenario shows on reload
	$(BIN)/python dev.py

quick: .venv/dev lint ## lint, types, and the tests without browser, Spark and waiting: under a minute, before every commit
	$(BIN)/python -m pytest -m "not browser and not spark and not slow and not long" --hypothesis-profile quick

test: .venv/dev lint ## install what is needed; lint, types, all tests but the long ones (in browsers where there is a Chromium, a Firefox)
	$(BIN)/python -m pytest

long: .venv/dev ## what is long by nature: soaks, kills, chaos, many examples of each property; with ONLY=cluster those of tests/cluster
	$(BIN)/python -m pytest -m "long or property" --hypothesis-profile large tests/$(ONLY)

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/mypy

mutants: .venv/dev ## how many of 60 small mistakes the tests find (tests/mutants.toml); an hour
	$(BIN)/python -m tests.mutants

bench: .venv/dev ## measure the engine, the explorer, incremental snapshots, a fork, the page, a class of thirty, a cluster, those who watch one, the pipeline; prints the tables of docs/performance.md
	$(BIN)/python -m bench.engine
	$(BIN)/python -m bench.explore
	$(BIN)/python -m bench.incremental
	$(BIN)/python -m bench.copy_on_write
	$(BIN)/python -m pytest bench/ui.py -p tests.e2e.conftest -n 0 -s -q
	$(BIN)/python -m bench.classroom
	$(BIN)/python -m bench.cluster --long
	$(BIN)/python -m bench.watchers --page 10
	$(BIN)/python -m bench.pipeline

lock: .venv/dev ## after an edit of requirements*.txt; with UPGRADE=--upgrade also the newest of all that they ask for
	$(LOCK) $(UPGRADE) requirements-build.txt -o requirements-build.lock
	$(LOCK) $(UPGRADE) requirements.txt -o requirements.lock
	$(LOCK) $(UPGRADE) requirements-fast.txt -c requirements.lock -o requirements-fast.lock
	$(LOCK) $(UPGRADE) requirements-dev.txt -c requirements-fast.lock -c requirements.lock -c requirements-build.lock -o requirements-dev.lock

audit: .venv/dev ## look the locked packages up among the known vulnerabilities (asks pypi.org); fails if one cannot be
	$(BIN)/pip-audit --strict --require-hashes --disable-pip -r requirements-build.lock -r requirements-dev.lock

picture: .venv/app ## draw the picture of the README anew
	$(BIN)/python -m diagrams export lecture --format svg -o assets/lecture.svg

examples: .venv/app ## make the finished examples of the app anew, when the version or the format has risen
	$(BIN)/python -m pipeline.examples

tradeoffs: .venv/app ## measure the table of trade-offs that comes with the app anew, when the version has risen; four minutes
	$(BIN)/python -m pipeline tradeoffs --out examples/tradeoffs.json

proto: .venv/dev ## make the code of cluster/rpc/snapshot.proto anew
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. cluster/rpc/snapshot.proto

reference: .venv/dev ## make docs/reference/ and CITATION.cff anew from the code; a test says when
	$(BIN)/python -m tests.project.reference

broken: .venv/dev ## make the table of docs/broken-rules.md anew: which broken rule is caught by which check
	$(BIN)/python -m tests.broken_rules --write

clean: ## remove the environment and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv

.venv/build: requirements-build.lock | .venv/bin/python
	$(INSTALL) --only-binary :all: -r requirements-build.lock
	@touch $@

.venv/app: requirements.lock .venv/build
	$(INSTALL) $(PACKAGES) -r requirements.lock
	@touch $@

.venv/fast: requirements-fast.lock $(wildcard pipeline/compiled/*.py) .venv/build
	$(INSTALL) $(PACKAGES) -r requirements-fast.lock
	$(BIN)/python -m pipeline.compiled
	@touch $@ .venv/app

.venv/dev: requirements-dev.lock .venv/build
	$(INSTALL) $(PACKAGES) -r requirements-dev.lock
	@touch $@ .venv/app
