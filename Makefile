# Everything runs in .venv, made on first use from the pinned requirements.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help app class dev quick test bench picture examples clean

help: ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

app: .venv/app ## install what is needed and run the app on http://127.0.0.1:8501
	$(BIN)/streamlit run app.py

class: .venv/app ## the app for a class: other computers in this network can open it, with limits for each (docs/deploy.md)
	CONSISTENT_CUT_CLASS=1 $(BIN)/streamlit run app.py --server.address 0.0.0.0 --browser.serverAddress \
	  "$$($(BIN)/python -c 'from streamlit.net_util import get_internal_ip as mine; print(mine())')"

dev: .venv/dev ## the app for those who work on it: an edit of Python, JS, CSS or a scenario shows on reload
	$(BIN)/python dev.py

quick: .venv/dev ## lint, types, and the tests without browser, Spark and waiting: under a minute, before every commit
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not browser and not spark and not long" --hypothesis-profile quick

test: .venv/dev ## install what is needed; lint, types, all tests (browser tests where there is a Chromium, a Firefox)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

bench: .venv/dev ## measure the engine, the page, a class of thirty, the pipeline; prints the tables of docs/performance.md
	$(BIN)/python -m bench.engine
	$(BIN)/python -m pytest bench/ui.py -p tests.e2e.conftest -n 0 -s -q
	$(BIN)/python -m bench.classroom
	$(BIN)/python -m bench.pipeline

picture: .venv/app ## draw the picture of the README anew
	$(BIN)/python -m diagrams export lecture --format svg -o assets/lecture.svg

examples: .venv/app ## make the finished examples of the app anew, when the version or the format has risen
	$(BIN)/python -m pipeline.examples

clean: ## remove the environment and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip

.venv/app: requirements.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/dev: requirements-dev.txt requirements.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@ .venv/app
