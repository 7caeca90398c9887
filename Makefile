.DEFAULT_GOAL := help
.PHONY: help run demo test test-user test-quick test-exhaustive test-simulator browser metrics ansible lab check trust mutants method bench screenshots cast build package package-fio package-test release lock

SETUP := @sh tools/bootstrap
PYTHON := .venv/bin/python
# Five workers on two cores: many tests wait for a program or a screen, but every worker reads all tests. A file goes
# to one worker, so that what its tests share is made once; those that wait longest go first (tests/conftest.py).
ON_ALL_CORES = -n $$(($$(nproc) * 5 / 2)) --dist loadfile --no-loadscope-reorder
# Where a file has many long tests, whoever has none takes another's.
SHARED_OUT = -n $$(($$(nproc) * 5 / 2)) --dist worksteal
# One worker a core where nothing is waited for: a worker that reads all tests takes as long as a hundred of them.
ONE_A_CORE = -n $$(nproc) --dist worksteal
# The simulator's own tests have a run of their own: that the demo works is tried in tests/backends/test_demo.py, and by
# every test of command line and screens that opens it.
SIMULATOR := tests/backends/simulator
# The first time both cores compile a part of the tests and of what they import: else every worker compiles all of it.
APART := tests/backends tests/privsep tests/tui tests/widgets
COMPILED = @[ -e .venv/.compiled ] || { \
	$(PYTHON) -m pytest -q --collect-only $(APART) & \
	$(PYTHON) -m pytest -q --collect-only tests $(APART:%=--ignore=%); \
	wait; touch .venv/.compiled; } >/dev/null 2>&1
# Hundreds of tests start the program: without its bytecode each of them would compile it anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 26

run: ## open the workbench (ARGS="devices --json" for anything else)
	$(SETUP) run
	@.venv/bin/raidbench $(ARGS)

demo: ## open the workbench on a simulated rack of RAID controllers: nothing there can break
	$(SETUP) demo
	@.venv/bin/raidbench --demo $(ARGS)

test: ## run the tests (ARGS="-k journal" for some of them)
	$(SETUP) test
	$(COMPILED)
	@$(PYTHON) -m pytest -q $(ON_ALL_CORES) -m "not (exhaustive or long or browser or prometheus or ansible or package)" \
		--ignore=$(SIMULATOR) $(ARGS)

test-user: ## run those that may end otherwise for another user: .ci/run runs all of them as root
	@$(MAKE) --no-print-directory test ARGS="--other-user $(ARGS)"

test-quick: ## run those of core, backends and widgets that start no program, for while you write
	$(SETUP) test
	$(COMPILED)
	@$(PYTHON) -m pytest -q $(ONE_A_CORE) -m "not (exhaustive or long or browser or prometheus or ansible or package or slow or fio or root)" \
		--ignore=$(SIMULATOR) tests/core tests/backends tests/widgets $(ARGS)

test-exhaustive: ## run those that try everything: statistics, garbled answers, kills at any moment, whole programs
	$(SETUP) test
	$(COMPILED)
	@$(PYTHON) -m tests.sshd || true # those that need it say so
	@$(PYTHON) -m pytest -q $(SHARED_OUT) --durations=12 -m "exhaustive or long" \
		--ignore=$(SIMULATOR) $(ARGS)

test-simulator: ## run all tests of the simulator itself (ARGS="-k fio" for some of them)
	$(SETUP) test
	$(COMPILED)
	@$(PYTHON) -m pytest -q $(ONE_A_CORE) $(SIMULATOR) $(ARGS)

browser: ## try the report in Chromium
	$(SETUP) browser
	@$(PYTHON) -m pytest -q -m browser tests/features/report $(ARGS)

metrics: ## try the metrics and the alerts in a real Prometheus, on 127.0.0.1
	$(SETUP) test
	@$(PYTHON) -m tests.prometheus $(ARGS)

ansible: ## try the Ansible collection in real plays, on simulated racks
	$(SETUP) test
	@$(PYTHON) -m tests.ansible $(ARGS)

lab: ## try everything on real drivers, in a virtual machine (ARGS="tests/lab/test_boot.py -x" for some of it)
	$(SETUP) lab
	@$(PYTHON) -m tests.lab $(ARGS)

check: ## lint, format, types, import rules and the wording of prose
	$(SETUP) test
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports
	@$(PYTHON) -m tests.prose

trust: ## try every promise about other people's data as often as its mark asks (ARGS="--only T5,A1")
	$(SETUP) test
	@$(PYTHON) -m tests.trust $(ARGS)

mutants: ## change the lines that guard data, one at a time, and see whether a test notices (ARGS="guard journal", ARGS="--random 50")
	$(SETUP) test
	@sh tools/bootstrap uv pip install -q --python $(PYTHON) cosmic-ray==8.7.0
	@$(PYTHON) -m tests.mutants $(ARGS)

method: ## draw thousands of experiments whose truth is known, and fail where verdicts break a promise (ARGS="--planted", ARGS="--write")
	$(SETUP) test
	@$(PYTHON) -m tests.method $(ARGS)

bench: ## measure what raidbench itself costs
	$(SETUP) test
	@$(PYTHON) -m tests.bench $(ARGS)

screenshots: ## draw the pictures in screenshots/ anew, on simulated hardware
	$(SETUP) test
	@$(PYTHON) -m tests.screenshots

cast: ## play the loop anew for screenshots/loop.svg, on simulated hardware
	$(SETUP) test
	@$(PYTHON) -m tests.screenshots.cast

build: ## build wheel and sdist into dist/ and try the wheel away from the sources
	$(SETUP) test
	rm -f dist/raidbench-*.whl dist/raidbench-*.tar.gz
	@sh tools/bootstrap uv build -q --build-constraints tools/locked/build.txt --require-hashes --out-dir dist
	$(PYTHON) -m pytest -q tests/test_wheel.py

package: ## build what is shipped into dist/: one file a machine, .deb, .rpm, .pyz (ARGS="--out DIR")
	$(SETUP) package
	@$(PYTHON) -m tools.package $(ARGS)

package-fio: ## build a static fio of the distribution's source package into dist/, for hosts whose own is missing or too old
	$(SETUP) run
	@$(PYTHON) -m tools.package.fio $(ARGS)

package-test: package ## try what was built on old and odd hosts, as root: the launcher's rules, starts, installing, removing, a release
	$(SETUP) test
	@$(PYTHON) -m pytest -q -m package tests/package tests/release

release: ## measure, build, sign and lay out a release of the tagged commit (ARGS="--out DIR --keys DIR --url BASE_URL")
	$(SETUP) release
	@$(PYTHON) -m tools.release $(ARGS)

lock: ## lock the packages that pyproject.toml asks for (ARGS=--upgrade for their newest versions)
	$(SETUP) run
	@sh tools/lock $(ARGS)
