# Everything a developer or CI runs. Each target does the set-up it needs; `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help demo demo-live test test-fast test-living test-e2e test-faults coverage testbed lint bench fuzz schemas compliance chart chart-test locks clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## a recorded four-node cluster: machines in, the Kueue chain out
	@$(BIN)/python -m engine demo

demo-live: $(VENV)/.dev ## the walkthrough on a real control plane: a worker, kubectl, tables
	@$(BIN)/python -m tests.e2e.demo_live

test: test-fast test-living test-e2e ## the fast tests, whole workers in memory, then one case of each kind on a real control plane

test-fast: $(VENV)/.dev compliance ## no network, no root
	$(BIN)/python -m pytest -n 2 -m "not living and not e2e and not faults"

test-living: $(VENV)/.dev ## whole workers against an API server in memory, on a virtual clock
	$(BIN)/python -m pytest -n 2 -m "living and not faults"

coverage: $(VENV)/.dev compliance ## the tests of the pure core again, with branch coverage (slower)
	$(BIN)/python -m pytest -q -n 2 $(addprefix tests/unit/,values lang domain sections chain machines) tests/property tests/golden --cov --cov-report=term:skip-covered

test-e2e: $(VENV)/.dev testbed ## a real API server and Kueue (root and Go; skipped with a line without)
	$(BIN)/python -m pytest -m "e2e and not faults"

test-faults: $(VENV)/.dev testbed ## everything on the real control plane, faults included
	$(BIN)/python -m pytest -m "e2e or faults"

testbed: $(VENV)/.dev ## build the control plane's binaries, once (minutes; then cached)
	@$(BIN)/python -m tests.cluster build || [ $$? -eq 77 ]

lint: $(VENV)/.dev ## ruff, mypy --strict, layer contracts, the shipped packs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m engine validate rules

bench: $(VENV)/.dev ## speed: ratios measured in one run, growth from small to large
	$(BIN)/python -m tests.bench

fuzz: $(VENV)/.dev ## 100,000 mutated expressions and packs; none may hang, leak or break
	$(BIN)/python -m tests.fuzz --count 100000

schemas: $(VENV)/.dev ## write the published JSON Schemas anew
	$(BIN)/python -m engine schema --write schemas

compliance: $(VENV)/.dev ## fetch the official JMESPath cases into .cache (needs Go; tests skip without)
	@$(BIN)/python tests/compliance/fetch.py

chart: $(VENV)/.dev ## make charts/engine whole: packs, Kueue's configuration, Kueue's chart
	$(BIN)/python charts/build.py

chart-test: chart ## helm lint, rendering, rights
	$(BIN)/python -m pytest tests/unit/charts

locks: $(VENV)/.dev ## pin the dependencies anew, with hashes
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --allow-unsafe --output-file requirements.lock pyproject.toml
	$(BIN)/pip-compile --quiet --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --allow-unsafe --output-file requirements-dev.lock requirements-dev.in

clean: ## remove what the targets made
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; name one with make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock | $(VENV)/bin/python
	@echo "installing the run-time packages"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(VENV)/bin/python
	@echo "installing the development packages"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q engine  # for environments in which Python writes no byte code by itself
	@touch $@ $(VENV)/.runtime
