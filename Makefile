# Two commands for a fresh machine:  make serve  and  make test.  Everything else is listed by  make help.
SHELL := /bin/bash
PYTHON ?= python3
VENV   ?= .venv
HOST   ?= 127.0.0.1
PORT   ?= 8000
BIN    := $(VENV)/bin

.PHONY: help serve test check format clean bench-training

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

# Each stamp is one level of the install; a changed pyproject.toml renews it.
$(VENV)/.service: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.service
	$(BIN)/python -m pip install --quiet --editable '.[training,dev]'
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[training,dev,bench]'
	$(BIN)/python -m pip install --quiet --no-deps 'joeynmt==2.3.0'
	touch $@

serve: $(VENV)/.service ## set up and run the service on the shipped models (HOST=… PORT=…)
	$(BIN)/nudge serve --host $(HOST) --port $(PORT)

test: $(VENV)/.dev ## set up and run all tests
	$(BIN)/python -m pytest tests

check: $(VENV)/.dev ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev ## let ruff format and fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench-training: $(VENV)/.bench ## training speed against JoeyNMT, interleaved in one run
	$(BIN)/nudge-train bench

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
