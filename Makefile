# Every target sets up what it needs. ARGS is passed to the program: make demo ARGS="--rounds 3"

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
ARGS ?=
MINUTES ?= 30
SEED ?=
BIN := .venv/bin
READY := .venv/.ready
TOOLS := .venv/.tools
# Not ready where the folder was moved: scripts of .venv begin with the path of its interpreter.
$(shell $(BIN)/pip --version >/dev/null 2>&1 || rm -f $(READY))
BENCHES := $(wildcard bench/*.py)

.PHONY: help setup app demo competition test kills pictures pages tour visit texts soak \
  check style types types-here types-win32 types-darwin types-bench walls promises fix bench docs \
  test-gpu package test-package lock sbom security

help: ## list these targets
	@awk -F ':.* ## ' '/^[a-z-]+:.* ## / {printf "%-12s%s\n", $$1, $$2}' Makefile

setup: $(READY) ## create .venv from requirements.lock
	@echo ".venv is ready"

$(READY): pyproject.toml requirements.lock $(wildcard installer/locks/*.lock) installer/setup.sh installer/torch.sh
	PYTHON="$(PYTHON)" installer/setup.sh

app: $(READY) ## start the desktop app: make app ARGS="--ledger URL"
	$(BIN)/tequio app $(ARGS)

demo: $(READY) ## run a complete network on this computer: ledger, seed, volunteers, an audit
	$(BIN)/tequio demo $(ARGS)

competition: $(READY) ## run a competition of two swarms, verify the result, then find six lies about it
	rm -rf build/competition
	$(BIN)/tequio competition demo --dir build/competition $(ARGS)
	$(BIN)/python -m tests.lies build/competition

$(TOOLS): $(READY) installer/setup.sh installer/locks/s3.lock installer/locks/helm.lock
	installer/setup.sh tools

test: $(READY) $(TOOLS) ## run all tests, three files at a time (many tests mostly wait)
	$(BIN)/pytest -q -m "not cuda and not slow and not package" -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

kills: $(READY) $(TOOLS) ## slow tests: kill a busy ledger 250 times; follow the quickstarts; every fault at every moment; cells divided in every way
	$(BIN)/pytest -q -m slow tests/ledger tests/docs tests/whole/test_a_cell.py tests/whole/test_outer_steps.py tests/whole/test_faults.py \
	  tests/client/trainer/test_screen_noisy_trainers.py $(ARGS)

pictures: $(READY) ## take pictures of the app in every theme, size and language: build/pictures
	$(BIN)/python -m tests.support.app_pictures build/pictures $(ARGS)

pages: $(READY) $(TOOLS) ## take pictures of the ledger's pages, dark and light, wide and narrow: build/pages
	$(BIN)/python -m tests.support.page_pictures build/pages

tour: $(READY) $(TOOLS) ## drive the app like a new user, with a picture of every step: build/tour
	$(BIN)/pytest -q tests/whole/test_desktop_tour.py

visit: docs $(TOOLS) ## walk from the landing page to a chat as a first-time visitor, with a picture of every step: build/visit
	$(BIN)/pytest -q tests/whole/test_first_visit.py

texts: $(READY) ## extract the app's texts into the translation files, and compile them
	$(BIN)/python -m tests.support.app_texts

soak: $(READY) ## run a swarm under random faults for MINUTES=30; SEED= repeats the same faults
	$(BIN)/python -m tests.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

check: style types walls promises docs ## check style, spelling, types, import contracts, documents and the repository's own rules

style: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff check --preview --select PLW1514 client shared   # Windows chooses another encoding than UTF-8
	$(BIN)/ruff format --check
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs client ledger shared installer bench

types: types-here types-win32 types-darwin types-bench

types-here: $(READY)
	$(BIN)/mypy

types-win32 types-darwin: types-%: $(READY)
	$(BIN)/mypy --platform $* --cache-dir .mypy_cache/$* --no-warn-unreachable -p tequio_client -p tequio_shared

types-bench: types-here   # they share a cache
	MYPYPATH=bench:docs/site $(BIN)/mypy --explicit-package-bases bench/*.py bench/*/*.py docs/site/*.py

walls: $(READY)
	$(BIN)/lint-imports

promises: $(READY)
	$(BIN)/pytest -q tests/test_repository.py

docs: $(READY) ## build the documentation that a ledger serves under /docs; a warning is an error
	rm -rf ledger/tequio_ledger/web/docs build/docs.made   # pages that are gone
	$(BIN)/python -m sphinx -W -E --keep-going -q -j 2 -c docs/site -d build/doctrees docs ledger/tequio_ledger/web/docs
	@touch build/docs.made   # the tests build them again without it

fix: $(READY) ## fix what ruff can fix
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY) $(BENCHES:bench/%.py=bench/results/%.json) ## measure every claim: bench/results

bench/results/%.json: bench/%.py $(READY) FORCE
	@mkdir -p $(@D)
	$(BIN)/python $< --json $@

test-gpu: $(READY) ## run the tests that need a CUDA device
	@if $(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; \
	then $(BIN)/pytest -q -m cuda $(ARGS); \
	else echo "no CUDA device: nothing was tested"; fi

package: $(READY) ## make app, runtime and installers for this system: build/package; ARGS="app installers" makes only those
	installer/package/build.sh $(ARGS)

test-package: $(READY) ## test what make package built
	$(BIN)/pytest -q -m package tests/package $(ARGS)

security: $(READY) ## regenerate the table of attacks in docs/security.md
	$(BIN)/python -m tests.security

sbom: $(READY) ## list what is installed for each product, as CycloneDX: build/sbom
	$(BIN)/python -m tests.support.sbom build/sbom

lock: ## regenerate the locks; ARGS=--upgrade updates the pinned versions
	installer/lock.sh $(ARGS)

FORCE:
