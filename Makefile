# Needs Python >= 3.11 with pip, and make; everything else is put into .venv by the first command.
#   make demo    the whole story: convert, redact, seal, verify, report; record an agent, receive, replay
#   make test    the tests (ARGS="-k name" passes options to pytest)
#   make slow    the slow ones: real captures and packages, processes killed under load
#   make check   style, types, layers, and the coverage of the core
#   make soak    the receiver killed under load, many times (SOAK=60)
#   make bench   the figures of docs/benchmarks.md, measured here

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
# One worker a core; a file's tests stay together, since some share what is slow to make. JOBS=0 runs in this process.
JOBS ?= auto
SOAK ?= 60

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# The pure core and what must be tested of it, branch by branch; tests/project/coverage_gate.py holds the list of rooms.
CORE_TESTS := $(wildcard tests/canonical tests/spans tests/events tests/providers tests/dialects tests/reconstruct \
	tests/redaction tests/matching tests/cassette tests/replay tests/stubs)

.PHONY: help venv demo test slow soak check lint types layers coverage bench clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   //p' Makefile

venv: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "otelreplay needs Python 3.11 or newer; name one: make PYTHON=python3.12" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 \
		|| { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $(STAMP)

demo: venv
	@$(BIN)/python -m examples.demo

test: venv
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "not slow" $(ARGS)

slow: venv
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m slow $(ARGS)

soak: venv
	OTELREPLAY_SOAK=$(SOAK) $(BIN)/python -m pytest tests/receiver/test_killed.py --timeout 3600 $(ARGS)

check: lint types layers coverage

lint: venv
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

types: venv
	$(BIN)/python -m mypy

layers: venv
	$(BIN)/lint-imports --no-cache

coverage: venv
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "not slow" $(CORE_TESTS) --cov=otelreplay --cov-branch --cov-report=json:.coverage.json
	$(BIN)/python -m tests.project.coverage_gate .coverage.json

bench: venv
	$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) demo-out .coverage .coverage.json .mypy_cache .ruff_cache .pytest_cache .hypothesis
