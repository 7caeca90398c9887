.DEFAULT_GOAL := help
.PHONY: help run demo test lab check bench screenshots build

SETUP := @sh tools/bootstrap
PYTHON := .venv/bin/python

help: ## say what can be made
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 22

run: ## open the workbench (ARGS="devices --json" for anything else)
	$(SETUP) run
	@.venv/bin/raidbench $(ARGS)

demo: ## open the workbench on a simulated rack of RAID controllers: nothing there can break
	$(SETUP) run
	@.venv/bin/raidbench --demo $(ARGS)

test: ## run the tests (ARGS="-k journal" for some of them)
	$(SETUP) test
	@$(PYTHON) -m pytest -q $(ARGS)

lab: ## try everything on real drivers, in a virtual machine (ARGS="tests/lab/test_boot.py -x" for some of it)
	$(SETUP) lab
	@$(PYTHON) -m tests.lab $(ARGS)

check: ## lint, format, types and import rules
	$(SETUP) test
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports

bench: ## measure what raidbench itself costs
	$(SETUP) test
	@$(PYTHON) -m tests.bench $(ARGS)

screenshots: ## draw the pictures in screenshots/ anew, on simulated hardware
	$(SETUP) test
	@$(PYTHON) -m tests.screenshots

build: ## build wheel and sdist into dist/ and try the wheel away from the sources
	$(SETUP) test
	rm -rf dist
	@sh tools/bootstrap uv build -q --out-dir dist
	$(PYTHON) -m pytest -q tests/test_wheel.py
