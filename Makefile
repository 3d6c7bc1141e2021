# Every target that runs something sets up first; set-up takes seconds when nothing changed.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench-gate bench-encoder bench-ledger bench-backend bench-sql fuzz-sql test-crash clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

setup: ## create .venv from the lock file, fetch the models, build the demo's artefacts
	@scripts/setup

demo: ## route real requests through the demo institution
	@scripts/demo

test: setup ## run all tests, with full branch coverage of the gate core
	@scripts/test

check: setup ## check format, lint and types
	@scripts/check

bench-gate: setup ## measure the gate against cedarpy and the fast tier, and store the result
	@.venv/bin/python -m eval.bench_gate

bench-encoder: setup ## measure the encoder's runtimes and the tier against semantic-router, and store the result
	@test -x var/semantic-router/bin/python || (.venv/bin/python -m venv var/semantic-router && \
		var/semantic-router/bin/python -m pip install --quiet semantic-router==1.1.1)
	@.venv/bin/python -m eval.bench_encoder

bench-ledger: setup ## measure appends and verification of the ledger, and store the result
	@.venv/bin/python -m eval.bench_ledger

bench-backend: setup ## measure the proposer on a real vLLM on the CPU, and store the result
	@.venv/bin/python -m eval.bench_backend

bench-sql: setup ## measure verified queries against bare DuckDB, admission and 32 askers, and store the result
	@.venv/bin/python -m eval.bench_sql

fuzz-sql: setup ## run 100,000 mutated statements through the records pathway
	@.venv/bin/python -m tests.sqlpath.fuzz 100000

test-crash: setup ## cut a ledger's life off everywhere, fail its disk, flip every byte, store the counts
	@.venv/bin/python -m tests.faults.full

clean: ## delete everything that set-up and use created
	rm -rf .venv .venv-vllm var build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache *.egg-info
