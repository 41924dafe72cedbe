# Every target sets up what it needs by itself. ARGS goes to the program: make demo ARGS="--rounds 3"

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
BENCHES := $(wildcard bench/*.py)

.PHONY: help setup app demo competition test kills pictures pages tour texts soak check style types walls promises fix bench \
  test-gpu lock security

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.* ## (.*)/\1\t\2/p' Makefile | expand -t 12

setup: $(READY) ## make .venv from requirements.lock
	@echo ".venv is ready"

$(READY): pyproject.toml requirements.lock installer/setup.sh
	PYTHON="$(PYTHON)" installer/setup.sh

app: $(READY) ## the window: make app ARGS="--ledger URL"
	$(BIN)/tequio app $(ARGS)

demo: $(READY) ## a whole network on this machine: ledger, seed, volunteers, an audit
	$(BIN)/tequio demo $(ARGS)

competition: $(READY) ## two swarms compete on sealed texts, a stranger checks the result, then six lies about it
	rm -rf build/competition
	$(BIN)/tequio competition demo --dir build/competition $(ARGS)
	$(BIN)/python -m tests.lies build/competition

$(TOOLS): $(READY) installer/setup.sh
	installer/setup.sh tools

test: $(READY) $(TOOLS) ## the whole suite, three files at a time: many tests wait more than they compute
	$(BIN)/pytest -q -m "not cuda and not slow" -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

kills: $(READY) $(TOOLS) ## the ledger killed 200 times on SQLite and 50 times on PostgreSQL while it is fed
	$(BIN)/pytest -q -m slow tests/ledger $(ARGS)

pictures: $(READY) ## the app's pages in every look, size and language, into build/pictures
	$(BIN)/python -m tests.support.app_pictures build/pictures $(ARGS)

pages: $(READY) $(TOOLS) ## the ledger's pages, dark and light, wide and narrow, into build/pages
	$(BIN)/python -m tests.support.page_pictures build/pages

tour: $(READY) $(TOOLS) ## the app driven as a new user does, with a picture of every step in build/tour
	$(BIN)/pytest -q tests/whole/test_desktop_tour.py

texts: $(READY) ## extract the app's texts into its translations, and compile those
	$(BIN)/python -m tests.support.app_texts

soak: $(READY) ## a swarm under random faults for MINUTES=30; SEED= brings the same ones again
	$(BIN)/python -m tests.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

check: style types walls promises ## style, types, the walls between packages, and what the pages promise

style: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY)
	$(BIN)/mypy

walls: $(READY)
	$(BIN)/lint-imports

promises: $(READY)
	$(BIN)/pytest -q tests/test_repository.py

fix: $(READY) ## what ruff can mend by itself
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY) $(BENCHES:bench/%.py=bench/results/%.json) ## every measured claim, into bench/results

bench/results/%.json: bench/%.py $(READY) FORCE
	@mkdir -p $(@D)
	$(BIN)/python $< --json $@

test-gpu: $(READY) ## what needs a CUDA device
	@if $(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; \
	then $(BIN)/pytest -q -m cuda $(ARGS); \
	else echo "no CUDA device here: nothing was tested"; fi

security: $(READY) ## write the table of docs/security.md anew from the tests' marks
	$(BIN)/python -m tests.security

lock: ## write requirements.lock anew; make lock ARGS=--upgrade moves the pins
	installer/lock.sh $(ARGS)

FORCE:
