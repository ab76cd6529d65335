# Quarterdeck: every command a contributor needs. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest
TWO := -n 2 --dist loadfile --no-loadscope-reorder
AGAIN := --reruns $(or $(RERUNS),1) -r R
UNHURRIED := $(addprefix tests/faults/test_,kill9.py keeper.py terminals.py unwritable.py)

.PHONY: help screenshots run test check unit e2e faults bench fmt lint types imports laws fuzz fuzz-shell docs record lock parts clean

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/run.stamp: requirements-run.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Quarterdeck needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Quarterdeck into $(VENV) …"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-run.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/dev.stamp: requirements.lock $(VENV)/run.stamp
	@echo "Installing what the tests need into $(VENV) …"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

run: $(VENV)/run.stamp ## install if needed, then run the daemon in the foreground
	@exec $(BIN)/quarterdeck daemon

parts: $(VENV)/dev.stamp ## install the real parts that end-to-end tests drive: tmux, Chromium, both Claude Code versions
	@sh tests/support/parts.sh

test: parts lint types imports ## everything: lint, types, imports, all tests
	@$(PYTEST) tests/contract tests/unit $(TWO)
	@$(PYTEST) tests/e2e $(UNHURRIED) -m "not alone" $(TWO) $(AGAIN)
	@$(PYTEST) tests/e2e tests/faults -m "alone or not e2e" $(addprefix --ignore=,$(UNHURRIED)) $(AGAIN)

check: $(VENV)/dev.stamp lint types imports unit ## the fast loop

unit: $(VENV)/dev.stamp
	@$(PYTEST) tests/unit tests/contract $(TWO)

e2e: parts ## end to end with the real Claude Code, tmux and Chromium
	@$(PYTEST) tests/e2e

faults: $(VENV)/dev.stamp ## kill -9, floods and full disks, many times over
	@QD_FAULT_HITS=1000 $(PYTEST) tests/faults --timeout 7200

fuzz: $(VENV)/dev.stamp fuzz-shell ## 50,000 examples per property, and the shell reader against bash
	@QD_HYPOTHESIS=fuzz $(PYTEST) tests/unit --timeout 7200

fuzz-shell: $(VENV)/dev.stamp ## 120,000 shell texts, read by us and run by a real bash that can start nothing
	@$(BIN)/python -m tests.support.shell_fuzz 120000

laws: parts ## every law with its tests, and whether it holds
	@$(PYTEST) --laws

bench: $(VENV)/dev.stamp ## the figures, as ratios; writes benchmarks/results/latest.json
	@$(BIN)/python -m benchmarks

docs: $(VENV)/dev.stamp ## write the pages that are made from tables
	@$(BIN)/python -m tests.support.docs

screenshots: $(VENV)/dev.stamp ## make the pictures of the terminal face in docs/screenshots, from the demo
	@$(BIN)/python -m tests.support.screenshots

record: parts ## record Claude Code's hook payloads again
	@$(BIN)/python -m tests.support.record

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff format --check -q . && $(BIN)/ruff check -q .

types: $(VENV)/dev.stamp
	@$(BIN)/mypy

imports: $(VENV)/dev.stamp
	@$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

fmt: $(VENV)/dev.stamp ## format and fix
	@$(BIN)/ruff format -q . && $(BIN)/ruff check -q --fix .

LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q
lock: ## write the lock files anew (needs uv)
	$(LOCK) --group dev --all-extras -o requirements.lock
	$(LOCK) --extra sdk -c requirements.lock -o requirements-run.lock

clean: ## remove what was built or installed here
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
