# Two commands for a fresh machine:  make serve  and  make test.  Everything else is listed by  make help.
SHELL := /bin/bash
PYTHON ?= python3
VENV   ?= .venv
HOST   ?= 127.0.0.1
PORT   ?= 8000
BIN    := $(VENV)/bin
# The shipped bundles; where there is none, the toy pair that the tests use.
MODELS ?= $(if $(wildcard models/*/manifest.json),models,tests/fixtures/models)

.PHONY: help serve test check format clean bench bench-training multi30k actors model overhead http-share load locust

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

serve: $(VENV)/.service ## set up and run the service on the shipped models (HOST=… PORT=… MODELS=…)
	$(BIN)/nudge serve --host $(HOST) --port $(PORT) --models $(MODELS)

test: $(VENV)/.dev ## set up and run all tests
	$(BIN)/python -m pytest tests

check: $(VENV)/.dev ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev ## let ruff format and fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench ## serving speed against CTranslate2 and JoeyNMT, interleaved in one run
	cd tests/bench && OMP_NUM_THREADS=1 ../../$(BIN)/python serving.py

bench-training: $(VENV)/.bench ## training speed against JoeyNMT, interleaved in one run
	$(BIN)/nudge-train bench

# OUT=… is where results go, ARGS=… any other options of the script.
LOAD_ARGS = --models $(MODELS) $(if $(OUT),--out $(OUT)) $(ARGS)

overhead: $(VENV)/.dev ## what the actors cost in production: a table and a picture (MODELS=… OUT=…)
	$(BIN)/python tests/load/overhead.py $(LOAD_ARGS)

http-share: $(VENV)/.dev ## what HTTP, tokeniser and scheduler add to the engine's own time (MODELS=… OUT=…)
	$(BIN)/python tests/load/http_share.py $(LOAD_ARGS)

load: $(VENV)/.dev ## hold CALLERS=32 for MINUTES=5, check every answer against the one given alone, watch the memory
	$(BIN)/python tests/load/soak.py $(if $(CALLERS),--callers $(CALLERS)) $(if $(MINUTES),--minutes $(MINUTES)) $(LOAD_ARGS)

locust: $(VENV)/.dev ## a minute of realistic traffic, with an HTML report (MODELS=… OUT=…)
	$(BIN)/python tests/load/locust_report.py $(LOAD_ARGS)

multi30k: $(VENV)/.dev ## German to English on Multi30k, from text to scores (DATA=<folder of the corpora>)
	@test -n "$(DATA)" || { echo "say where the corpora are: make multi30k DATA=<folder with multi30k/>"; exit 2; }
	DATA=$(DATA) $(BIN)/nudge-train prepare --config training/configs/multi30k-de-en.toml
	DATA=$(DATA) $(BIN)/nudge-train pretrain --config training/configs/multi30k-de-en.toml --processes 2
	DATA=$(DATA) $(BIN)/nudge-train evaluate --config training/configs/multi30k-de-en.toml --decoder greedy --decoder beam

# Each step leaves finished work alone, so the same command goes on after a kill.
SHIPPED = bleu perplexity chrf concise
# Stages that a pair goes through before its own config, those it has.
EARLIER = $(patsubst training/configs/%.toml,%,$(foreach stage,base everyday shallow,$(wildcard training/configs/$(PAIR)-$(stage).toml)))
PAIR_CONFIG = --config training/configs/$(PAIR).toml $(if $(RUN),--run $(RUN))
SYNTHETIC = runs/synthetic

# English sentences that the German pairs do not have, nor any test set, and what the shipped model makes of them.
$(SYNTHETIC)/english.txt: | $(VENV)/.dev
	mkdir -p $(@D)
	$(BIN)/nudge-train novel --out $@ --label tatoeba --label tatoeba-pivot $(foreach other,ru cs fi,--text $(DATA)/en-$(other).train.tsv.xz) \
	  --known $(DATA)/en-de.train.tsv.xz $(foreach set,$(wildcard $(DATA)/eval/*/*.en),--known $(set))

$(SYNTHETIC)/german.txt: $(SYNTHETIC)/english.txt
	$(BIN)/nudge translate --file $< --from en --to de --decoder beam --beam-size 4 --models $(MODELS) --output $@

model: $(VENV)/.dev ## a shipped model with its actors, from text to bundle (PAIR=de-en DATA=… RUN=… OUT=models/de-en VERSION=1.4.0)
	@test -n "$(DATA)" -a -n "$(PAIR)" || { echo "say which pair and where the corpora are: make model PAIR=de-en DATA=<folder>"; exit 2; }
	$(MAKE) $(SYNTHETIC)/german.txt DATA=$(DATA)
	set -e; for stage in $(EARLIER); do for command in prepare pretrain; do \
	  DATA=$(DATA) $(BIN)/nudge-train $$command --config training/configs/$$stage.toml --run runs/$$stage; done; done
	DATA=$(DATA) $(BIN)/nudge-train prepare $(PAIR_CONFIG)
	DATA=$(DATA) $(BIN)/nudge-train pretrain $(PAIR_CONFIG)
	DATA=$(DATA) $(BIN)/nudge-train actors $(PAIR_CONFIG)
	DATA=$(DATA) $(BIN)/nudge-train evaluate $(PAIR_CONFIG) --decoder greedy --decoder beam $(SHIPPED:%=--decoder actor:%)
	DATA=$(DATA) $(BIN)/nudge-train report $(PAIR_CONFIG) --no-beam --no-npad
	DATA=$(DATA) $(BIN)/nudge-train export $(PAIR_CONFIG) $(SHIPPED:%=--actor %) $(if $(OUT),--out $(OUT)) $(if $(VERSION),--version $(VERSION)) --force

# The evidence: a base model and all its actors, of multi30k-small-de-en or, larger, multi30k-de-en.
ACTORS = multi30k-small-de-en
ACTORS_RUN = --config training/configs/$(ACTORS).toml --run $(or $(RUN),runs/$(ACTORS))
RESULTS = $(if $(filter multi30k-small-de-en,$(ACTORS)),training/RESULTS.md,training/results/$(ACTORS).md)

actors: $(VENV)/.dev ## the evidence in training/RESULTS.md, from text to tables (DATA=… RUN=… ACTORS=multi30k-de-en)
	@test -n "$(DATA)" || { echo "say where the corpora are: make actors DATA=<folder with multi30k/>"; exit 2; }
	DATA=$(DATA) $(BIN)/nudge-train prepare $(ACTORS_RUN)
	DATA=$(DATA) $(BIN)/nudge-train pretrain $(ACTORS_RUN)
	DATA=$(DATA) $(BIN)/nudge-train actors $(ACTORS_RUN)
	DATA=$(DATA) $(BIN)/nudge-train report $(ACTORS_RUN) --soothsayer bleu --notes training/results/$(ACTORS).notes.md --out $(RESULTS)

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
