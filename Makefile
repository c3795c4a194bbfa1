# The everyday commands; `make` alone lists them. Only Python 3.11 or newer and make need be on the
# machine: everything else is installed into .venv, anew whenever the dependencies have changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 60
INSTALL := $(BIN)/python tools/install.py

.DEFAULT_GOAL := help
.PHONY: help lab setup test test-all lowest newest nightly check docs fuzz soak older-spark format frontend protos ledger-page findings-page constraints benchmarks screenshots clean python

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

lab: $(VENV)/.lab  ## open the notebooks in JupyterLab
	@$(BIN)/lance-explorer lab

setup: $(VENV)/.dev  ## install the package and the development tools into .venv

test: | python  ## run everything: lint, types, import rules, all tests, notebooks, documentation
	@$(PYTHON) tools/run_tests.py

test-all: | python  ## run everything, on all stored tables, and with the lowest and newest dependencies
	@$(PYTHON) tools/run_tests.py --all

lowest: | python  ## run unit tests with the lowest versions of the dependencies
	@$(PYTHON) tools/run_tests.py setup lowest

newest: | python  ## run unit tests with the newest versions of the dependencies
	@$(PYTHON) tools/run_tests.py setup newest

nightly: $(VENV)/.dev  ## run all that is random with fresh seeds, again and again, for MINUTES (60)
	@$(BIN)/python tools/nightly.py --minutes $(MINUTES)

check: | python  ## run the quick part: lint, types, import rules, quick unit tests
	@$(PYTHON) tools/run_tests.py setup lint quick

docs: $(VENV)/.dev  ## show the documentation; runs the notebooks first, which takes minutes
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve --open

fuzz: $(VENV)/.dev  ## damage 100,000 files, each time others, and print what came of it
	$(BIN)/python -m tests.fuzzing

soak: $(VENV)/.dev  ## read tables for 20 minutes while others write, clean up and drop them
	$(BIN)/python -m tests.soak --minutes 20

older-spark: $(VENV)/.dev  ## run the tests of Spark with the oldest PySpark that is served
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(VENV)-older-spark pyspark==4.1.1
	PYTHONPATH=$(CURDIR)/$(VENV)-older-spark $(BIN)/python -m pytest tests/spark \
	  -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning

format: $(VENV)/.dev  ## format the code and mend what can be mended
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/python tools/build_frontend.py --format

frontend: $(VENV)/.dev  ## write messages.ts, and lance_explorer/widgets/static from frontend/
	$(BIN)/python tools/build_frontend.py

protos: $(VENV)/.dev  ## write lance_explorer/format/_pb from protos/
	$(BIN)/python tools/generate_protos.py

ledger-page: $(VENV)/.dev  ## write the columns in docs/LEDGER.md
	$(BIN)/python tools/write_ledger_page.py

findings-page: $(VENV)/.dev  ## write docs/FINDINGS.md from the catalogue of findings
	$(BIN)/python tools/write_findings_page.py

# An early 3.11, such as the 3.11.2 of Debian 12, chooses what later ones accept too.
constraints: | python  ## choose the exact versions in constraints.txt anew
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
	  || { echo "Versions are chosen with Python 3.11, the oldest that is served."; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)-constraints
	$(VENV)-constraints/bin/python -m pip install --disable-pip-version-check --quiet -e '.[all,dev]'
	{ echo "# The versions that the tests run with, chosen with $$($(PYTHON) -V) by make constraints."; \
	  $(VENV)-constraints/bin/python -m pip freeze --exclude-editable; } > constraints.new
	mv constraints.new constraints.txt
	rm -rf $(VENV)-constraints

benchmarks: $(VENV)/.dev  ## time lance_explorer and pylance side by side
	$(BIN)/python -m benchmarks

screenshots: $(VENV)/.dev  ## take the pictures of the README anew; needs Chromium
	$(BIN)/python tools/take_screenshots.py
	$(BIN)/python tools/record_tour.py

clean:  ## remove .venv, caches and reports
	rm -rf $(VENV) $(VENV)-constraints $(VENV)-older-spark build dist .test-reports .hypothesis frontend/node_modules
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.lab: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing lance_explorer and JupyterLab into $(VENV) (a minute)"
	@$(INSTALL) lab
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing lance_explorer and its development tools into $(VENV) (a minute or two)"
	@$(INSTALL) dev
	@touch $(VENV)/.lab $@

$(BIN)/pip: | python
	@echo "Making an environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

python:
	@command -v $(PYTHON) > /dev/null \
	  || { echo "There is no $(PYTHON) here. Name a Python 3.11 or newer: make lab PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "$(PYTHON) is too old. Name a Python 3.11 or newer: make lab PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null \
	  || { echo "$(PYTHON) cannot make environments. On Debian or Ubuntu: apt install python3-venv"; exit 1; }
