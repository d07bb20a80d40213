# Commands for people. Needs bash, make, git, and root or sudo while something is missing.
# STUDY=, SCALE= and PROVIDER= override config/config.yaml: make study PROVIDER=docker

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CORES ?= 4
URL ?= https://example.org/kvstudy/
CONFIG = $(strip $(if $(STUDY),study=$(STUDY)) $(if $(SCALE),scale=$(SCALE)) $(if $(PROVIDER),provider=$(PROVIDER)))
# Targets are before --config, which takes every word behind it.
SNAKEMAKE = snakemake$(if $(1), $(1)) --cores $(CORES)$(if $(CONFIG), --config $(CONFIG))
# As in the activated environment; the set-up itself runs outside of it.
IN_VENV := PATH="$(CURDIR)/.venv/bin:$$PATH"
PYTHON_FILES := workflow tests .ci
# Each file to the process that is free, in this order: the short ones end it. They wait a third of
# their time, so there is one process more than a small machine has cores.
REAL := pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder \
    --durations 40 --durations-min 5 tests/e2e tests/workflow tests/tex
MVN := MAVEN_OPTS="$${MAVEN_OPTS:-} -Djansi.noreset=true" mvn --quiet --batch-mode -Dstyle.color=never --file workflow/bindings/pom.xml

.PHONY: help setup servers setup-cluster setup-test study demo partial test test-slow test-unit faults lint format bench false-calls reference site clean check-systems check-workbook lock

help: ## print this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1|\2/p' Makefile | while IFS='|' read -r target text; do \
	    printf '  make %-14s %s\n' "$$target" "$$text"; done
	@echo "Variables: STUDY= SCALE= PROVIDER= (config/config.yaml), CORES= (default 4), SEED= (faults), SEEDS= (false-calls), URL= (site)"

setup: ## install what is missing: system packages, .venv, YCSB bindings
	@envs/setup study

servers: setup ## install servers: all, those of STUDY=, or STORES="aerospike riak"
	$(IN_VENV) kvstudy servers get$(if $(STUDY), --study $(STUDY))$(if $(STORES), $(STORES))

setup-cluster: ## also install what measuring on a cluster needs
	@envs/setup study cluster

setup-test:
	@envs/setup study test

study: setup ## measure the study and build its report
	$(IN_VENV) $(call SNAKEMAKE,)

demo: SCALE := 0.01
demo: setup ## measure the study at a hundredth of its size, as a separate run
	$(IN_VENV) $(call SNAKEMAKE,)

partial: setup ## build the report from the finished cells, with its gaps explained
	$(IN_VENV) $(call SNAKEMAKE,report_partial)

test: setup-test servers ## run the tests; they start servers on free loopback ports
	$(MVN) test
	$(IN_VENV) pytest --numprocesses auto tests/unit
# A part of 'make faults' that takes less than a minute.
	$(IN_VENV) pytest --numprocesses 2 --inputs 0.01 --every 8 \
	    $(addprefix tests/faults/test_,configuration.py client.py fuzz.py foreign_logs.py)
	$(IN_VENV) $(REAL) -m 'not slow'

test-slow: setup-test servers ## run long tests that repeat what quicker ones show
	$(IN_VENV) $(REAL) -m slow

test-unit: setup-test ## run the tests that need neither a server nor TeX
	$(IN_VENV) pytest --numprocesses auto tests/unit

faults: SEED ?= 0
faults: setup-test ## inject all faults of tests/faults; writes the tables of docs/reliability.md
	$(IN_VENV) pytest --numprocesses 2 --hypothesis-seed $(SEED) \
	    --table docs/reliability.md tests/faults

lint: setup-test ## check the style of Python, Snakemake, Java and English
	$(IN_VENV) ruff check $(PYTHON_FILES)
	$(IN_VENV) lint-imports
	$(IN_VENV) ruff format --check $(PYTHON_FILES)
	$(IN_VENV) snakefmt --check Snakefile workflow
	$(IN_VENV) python .ci/snakemake_lint.py
	$(IN_VENV) python .ci/prose_lint.py
	$(MVN) -Plint validate

format: setup-test ## rewrite Python, Snakemake and Java files in the project's style
	$(IN_VENV) ruff check --fix $(PYTHON_FILES)
	$(IN_VENV) ruff format $(PYTHON_FILES)
	$(IN_VENV) snakefmt Snakefile workflow
	$(MVN) -Plint fmt:format

bench: setup-test ## run the benchmarks of the pipeline and print their figures
	@for script in tests/bench/bench_*.py; do \
	    echo "== $$script"; $(IN_VENV) python "$$script"; done

false-calls: setup-test ## simulate how often equal stores are called different; SEEDS="1 2" also measures it (25 min each)
	$(IN_VENV) python tests/bench/false_calls.py $(SEEDS)

reference: setup ## verify the reference runs and rebuild their reports from the raw logs
	rm -rf reference/rebuilt
	for run in $(basename $(notdir $(wildcard reference/*.zip))); do \
	    $(IN_VENV) kvstudy verify reference/$$run.zip || exit; \
	    $(IN_VENV) kvstudy rebuild --own-code --output reference/rebuilt/$$run reference/$$run.zip || exit; \
	done

site: reference ## publish the reference runs as a static site in site/; URL= is its address
	rm -rf site
	for run in $(basename $(notdir $(wildcard reference/*.zip))); do \
	    (cd reference/rebuilt/$$run && $(IN_VENV) kvstudy publish $$run --to $(CURDIR)/site \
	        --url $(URL) --archive $(CURDIR)/reference/$$run.zip) || exit; \
	done

clean: ## remove what was installed into the clone; RESULTS=yes asks for results, figures, reports
	@envs/clean $(if $(RESULTS),--results)

check-systems: ## set up and run the demo in fresh Debian systems; needs root and debootstrap (1 h)
	@tests/systems/check $(SYSTEMS)

check-workbook: ## open the workbooks of all runs in LibreOffice and check their formulas
	@envs/setup study test office
	@[[ -n "$(wildcard results/*/*.xlsx)" ]] || { \
	    echo "results/: no workbook there; 'make demo' makes one" >&2; exit 1; }
	$(IN_VENV) python .ci/check_workbook.py $(wildcard results/*/*.xlsx)

# In an environment of its own: .venv holds nothing but what the locks name.
UV := .setup/uv/bin/uv
LOCK := $(UV) --quiet pip compile --universal --python-version 3.11 --generate-hashes \
        --no-header --no-emit-index-url

lock: setup ## refresh the Python locks after an edit of envs/python/*.in
	@[[ -x $(UV) ]] || { .venv/bin/python -m venv .setup/uv && \
	    .setup/uv/bin/python -m pip install --quiet uv==0.13.8; }
	$(LOCK) envs/python/bootstrap.in --output-file envs/python/bootstrap.txt
	$(LOCK) envs/python/requirements.in --output-file envs/python/requirements.txt
	$(LOCK) envs/python/test.in --output-file envs/python/test.txt
	$(LOCK) envs/python/cluster.in --output-file envs/python/cluster.txt
