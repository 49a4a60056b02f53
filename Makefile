# `make` prints this help. The first use of any target makes .venv with the locked versions.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --constraint constraints.txt --editable
# bf16 kernels crash on some CPUs that advertise AMX; this keeps oneDNN away from them.
export ONEDNN_MAX_CPU_ISA ?= AVX512_CORE_FP16

.PHONY: help demo test check browser format lint types imports tests docs models site lock clean
help:  ## print this help
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 10

demo: .venv/runtime  ## set up, then answer a two-hop question from the demo corpus
	@$(BIN)/muppet index src/muppet/demo/paragraphs.jsonl --into .venv/demo-kb
	@$(BIN)/muppet encode .venv/demo-kb
	@echo; echo 'Which Norwegian sea captain founded the whaling station where Ernest Shackleton is buried?'
	@$(BIN)/muppet ask .venv/demo-kb \
	  'Which Norwegian sea captain founded the whaling station where Ernest Shackleton is buried?'

test: .venv/dev browser  ## set up, then run all tests
	$(BIN)/python -m pytest -n 2

browser:  # chromium, for the tests of the page, where apt can install it
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && \
	  apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null 2>&1; } || \
	  echo 'NO CHROMIUM: the tests of the page will be skipped.' >&2

check: format lint types imports tests docs  ## everything CI asks for

format: .venv/dev
	$(BIN)/ruff format --check src tests benchmarks experiments docs
lint: .venv/dev
	$(BIN)/ruff check src tests benchmarks experiments docs
types: .venv/dev
	$(BIN)/mypy
imports: .venv/dev
	$(BIN)/lint-imports --no-cache
tests: test
docs: .venv/dev
	$(BIN)/python -m pytest -n 0 tests/house tests/docs

models: .venv/dev  ## train both shipped models anew, from nothing: hours, and ../shared/data
	recipes/rebuild.sh

site: .venv/dev  ## build the documentation into site/, which works offline
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'Open site/index.html.'

lock: .venv/dev  ## write the versions of this .venv into constraints.txt
	$(BIN)/pip freeze --exclude-editable | grep -v '^muppet' | sed 's/+cpu$$//' > constraints.txt

clean:  ## remove .venv, site/ and all caches
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/runtime: .venv/bin/python pyproject.toml constraints.txt
	@echo 'Setting up .venv: this takes a minute or two.'
	$(PIP) '.[evaluate,serve]'
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) '.[faiss,evaluate,train,serve,mcp,adapters,docs,dev]'
	@touch $@
