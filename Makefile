# Quarterdeck: every command a contributor needs. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest
# Real programs and terminals mostly wait for each other, so more tests run at a time than there are cores.
# Two plugins of the contract tests are slow to import, and unit tests use neither.
UNIT := tests/unit -n 4 --dist worksteal -p no:schemathesis -p no:faker
BY_FILE := -n 4 --dist loadfile --no-loadscope-reorder
# The real Claude Code starts several processes of its own: one test for each core.
AGENTS := -n 2 --dist worksteal
# Tests start hundreds of Python programs, and each would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help screenshots run test check unit contract e2e faults bench fmt lint types imports laws fuzz fuzz-shell fuzz-edge matrix docs record lock parts clean

help: ## list these commands
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

parts: $(VENV)/dev.stamp ## install the programs that end-to-end tests drive: tmux, nginx, zsh, fish, Chromium, both Claude Code versions
	@sh tools/parts.sh

test: parts lint types imports ## run everything: lint, types, imports, all tests
	@$(PYTEST) $(UNIT)
	@QD_SCHEMATHESIS=50 $(PYTEST) tests/contract $(BY_FILE)
	@$(PYTEST) tests/e2e tests/faults $(AGENTS)

check: $(VENV)/dev.stamp lint types imports unit ## run the fast loop: format, lint, types, imports, unit tests

unit: $(VENV)/dev.stamp ## run the unit tests
	@$(PYTEST) $(UNIT)

contract: $(VENV)/dev.stamp ## run the contract tests: a real daemon, sockets and processes
	@$(PYTEST) tests/contract $(BY_FILE)

e2e: parts ## run the end-to-end tests with the real Claude Code, tmux and Chromium
	@$(PYTEST) tests/e2e $(AGENTS)

faults: $(VENV)/dev.stamp ## run the fault tests many times over: kill -9, floods, full disks
	@QD_FAULT_HITS=1000 $(PYTEST) tests/faults --timeout 7200

fuzz: $(VENV)/dev.stamp fuzz-shell ## random examples: 50,000 per property, 1,000 per API operation, shell lines against bash
	@QD_HYPOTHESIS=fuzz $(PYTEST) tests/unit --timeout 7200
	@QD_HYPOTHESIS=fuzz QD_SCHEMATHESIS=1000 $(PYTEST) tests/contract/test_schemathesis.py --timeout 7200

fuzz-shell: $(VENV)/dev.stamp ## parse 120,000 random shell lines and compare with a real bash that can start nothing
	@$(BIN)/python -m tools.shell_fuzz 120000

fuzz-edge: $(VENV)/dev.stamp ## send two million random calls without a credential to a daemon
	@$(BIN)/python -m tools.edge_fuzz 2000000

matrix: parts ## every fault of the gate and of restarts, ten times, with both versions of Claude Code (hours)
	@$(BIN)/python -m tools.gate_matrix --times 10

laws: parts ## print every law with its tests and whether they pass
	@$(PYTEST) --laws

bench: $(VENV)/dev.stamp ## run the benchmarks and write benchmarks/results/latest.json
	@$(BIN)/python -m benchmarks

docs: $(VENV)/dev.stamp ## write the generated blocks of the pages in docs/, and the examples of the API
	@$(BIN)/python -m tools.docs

screenshots: $(VENV)/dev.stamp ## make the pictures of the terminal UI and the page in docs/screenshots, from the demo
	@$(BIN)/python -m tools.screenshots
	@$(BIN)/python -m tools.web.screenshots

record: parts ## record Claude Code's hook payloads again
	@$(BIN)/python -m tools.record

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff format --check -q . && $(BIN)/ruff check -q .

types: $(VENV)/dev.stamp
	@$(BIN)/mypy

imports: $(VENV)/dev.stamp
	@$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

fmt: $(VENV)/dev.stamp ## format the code and fix what ruff can
	@$(BIN)/ruff format -q . && $(BIN)/ruff check -q --fix .

LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q
lock: ## write the lock files again (needs uv)
	$(LOCK) --group dev --all-extras -o requirements.lock
	$(LOCK) --extra sdk -c requirements.lock -o requirements-run.lock

clean: ## remove everything that was built or installed here
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
