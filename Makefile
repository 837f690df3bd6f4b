# make run    makes the environment and starts the app on this machine
# make test   makes it, gets a browser, and checks everything
# make js     checks the modules that run in the browser: types, lint, and their logic in Node
# make bench  measures training and encoding against other tools, and writes benchmarks/README.md
# make search looks for failures in examples that nobody has seen: ten times as many, at random
# PORT=8502 make run      starts it on another port
# make bench CORPUS=path  measures on a folder of text of your own
# make bench PART=decoding  measures one part anew; python -m benchmarks -h names them all

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

PORT ?= 8501
PYTHON ?= python3
BIN := .venv/bin

# What `make bench` measures on: a folder of text, or what is on every machine.
CORPUS ?=
PART ?=

.PHONY: run test search bench lint types js js-types js-lint js-tests browser ranks clean

run: .venv/run.stamp
	$(BIN)/python -m bpe_core.compiling
	$(BIN)/python -m streamlit run serve.py --server.address 127.0.0.1 --server.port $(PORT)

test: lint types js browser ranks
	$(BIN)/python -m bpe_core.compiling
	$(BIN)/python -m pytest -n 2 --dist worksteal

search: .venv/dev.stamp
	$(BIN)/python -m bpe_core.compiling
	$(BIN)/python -m pytest -n 2 --hypothesis-profile search tests/properties tests/differential

# Compiled kernels of its own: those in the sources' folder are the app's.
bench: export NUMBA_CACHE_DIR := $(CURDIR)/.venv-bench/kernels
bench: .venv-bench/run.stamp
	.venv-bench/bin/python -m bpe_core.compiling
	.venv-bench/bin/python -m benchmarks $(PART) $(if $(CORPUS),--corpus "$(CORPUS)")

lint: .venv/dev.stamp js-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp js-types
	$(BIN)/pyright

# The browser's modules: their types, lint, and what of them can be tested without a browser.
js: js-types js-lint js-tests

js-types: node_modules/stamp
	scripts/node.sh node_modules/typescript/bin/tsc

js-lint: node_modules/stamp
	scripts/node.sh node_modules/eslint/bin/eslint.js ui/components tests/js eslint.config.js

js-tests: .venv/dev.stamp
	scripts/node.sh --test "tests/js/*.test.js"

node_modules/stamp: package.json package-lock.json | .venv/dev.stamp
	scripts/node.sh npm ci
	touch $@

browser: .venv/dev.stamp
	scripts/get_browser.sh

# GPT-4's and GPT-4o's rank files: what the tests compare with.
ranks: .venv/dev.stamp
	PYTHON="$(PYTHON)" scripts/get_ranks.sh

.venv/run.stamp: requirements.txt scripts/make_venv.sh
	PYTHON="$(PYTHON)" scripts/make_venv.sh requirements.txt
	touch $@

.venv/dev.stamp: requirements.txt requirements-dev.txt scripts/make_venv.sh
	PYTHON="$(PYTHON)" scripts/make_venv.sh requirements-dev.txt
	touch $@ .venv/run.stamp

.venv-bench/run.stamp: requirements.txt requirements-bench.txt scripts/make_venv.sh
	PYTHON="$(PYTHON)" VENV=.venv-bench scripts/make_venv.sh requirements-bench.txt
	touch $@

clean:
	rm -rf .venv .venv-bench node_modules .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
