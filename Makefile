# make demo   set everything up and analyse a real trace
# make test   set everything up and run the tests
# make recordings RECORDINGS=FOLDER   the tests of recordings that are not in the repository
# make wheels PYTHONS="python3.11 python3.12"   a wheel for each of these Pythons, in dist, with its loops compiled: for any
#                                               x86-64 processor, or whatever this machine is (needs gcc)
# make loop-types   the types that loops are compiled for, .ci/signatures.json, written anew by the tests
# make lint   formatting, lint and types
# make docs   the user guide, in build/guide
# make bench  measurements against named peers (half an hour; 4 GB in build/traces)
# make accuracy   the study of the period detection beside FTIO; writes docs/accuracy.md (about an hour on two cores)

# make prediction   the next phase predicted while jobs run, beside FTIO's predictor (half an hour)
# make watching   what following a job costs, and its last answers beside the offline ones (a quarter of an hour)
# make signatures   the study of signatures (IOSI) beside their baselines (some minutes)
# make differences   how often diff finds a change where there is none (ten minutes; IOSTRATA_RECORDINGS for recordings)
# make scheduling   what Set-10 gains in the simulation beside published numbers (some minutes)
# make scores   100,000 made jobs trained and assessed (some minutes; 1.2 GB in the temporary folder)
# make scorep-plugin SCOREP=/prefix   live/scorep for an installed Score-P, in build/scorep (needs gcc; without SCOREP the
#                                     scorep-config on the PATH)
# make scorep-layers SCOREP=/prefix   the same of live/scorep/layers, which records netCDF, HDF5, PnetCDF and ADIOS2

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# All is compiled to bytecode, by all processors: where PYTHONDONTWRITEBYTECODE is set each process would do that again,
# for seconds. Packages carry files for other Pythons, which do not compile.
COMPILE := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
WHEEL := $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps
HEADER := import sysconfig; print(sysconfig.get_path("include") + "/Python.h")
# Processes that run tests at once: one more than there are processors, as a sixth of their time is waiting for others.
JOBS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)
PACKAGES := model otf2io inputs signals layers analysis runs live export cli
SOURCES := pyproject.toml README.md LICENSE __init__.py py.typed \
	$(shell find $(PACKAGES) -name __pycache__ -prune -o \( -type d -o -type f \) -print)
DEMO := demo
# The wheel is built from a copy: an old build folder would leak deleted modules into it.
COPY := build/copy

.PHONY: demo test recordings wheels loop-types lint docs bench accuracy prediction watching signatures differences scheduling scores scorep-plugin scorep-layers \
	setup install clean

demo: install
	@mkdir -p $(DEMO)
	$(BIN)/iostrata convert fixtures/ncckpt4 $(DEMO)/ncckpt4.h5
	$(BIN)/iostrata report fixtures/ncckpt4 -o $(DEMO)/ncckpt4.html
	$(BIN)/iostrata fixtures/ncckpt4
	@echo "All of it as a page: $(DEMO)/ncckpt4.html"

# Each process would rewrite all assertions, a minute of a slow one: only what fails is run again with them.
test: install $(VENV)/test-extras
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --assert=plain tests || \
		{ $(BIN)/python -m pytest --last-failed --last-failed-no-failures=none tests; exit 1; }

recordings: install $(VENV)/test-extras
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --recordings $(RECORDINGS) tests

lint: install $(VENV)/test-extras
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p iostrata

docs: install $(VENV)/docs-extras
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs/guide build/guide

bench: install $(VENV)/test-extras
	$(BIN)/python benchmarks/whole_run.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/bounded_memory.py
	$(BIN)/python benchmarks/bounded_commands.py
	$(BIN)/python benchmarks/attribution.py
	$(BIN)/python benchmarks/report.py

accuracy: install $(VENV)/test-extras
	-$(BIN)/python -m pip install --quiet darshan
	$(BIN)/python benchmarks/accuracy/study.py

prediction: install $(VENV)/test-extras
	$(BIN)/python benchmarks/prediction/study.py

watching: install $(VENV)/test-extras
	$(BIN)/python benchmarks/watching/costs.py
	$(BIN)/python benchmarks/watching/equality.py

signatures: install $(VENV)/test-extras
	$(BIN)/python benchmarks/signatures/study.py
	$(BIN)/python benchmarks/signatures/steps.py
	$(BIN)/python benchmarks/signatures/loops.py

differences: install $(VENV)/test-extras
	$(BIN)/python benchmarks/differences/false_alarms.py
	$(BIN)/python benchmarks/differences/iterations.py
	test -z "$(IOSTRATA_RECORDINGS)" || $(BIN)/python benchmarks/differences/recorded.py

scheduling: install $(VENV)/test-extras
	$(BIN)/python benchmarks/scheduling/study.py

scores: install $(VENV)/test-extras
	$(BIN)/python benchmarks/scores/study.py

scorep-plugin:
	@$(MAKE) --no-print-directory -C live/scorep $(if $(SCOREP),SCOREP=$(SCOREP)) OUT=$(CURDIR)/build/scorep

scorep-layers:
	@$(MAKE) --no-print-directory -C live/scorep/layers $(if $(SCOREP),SCOREP=$(SCOREP)) OUT=$(CURDIR)/build/scorep

setup: $(VENV)/dependencies

$(VENV)/dependencies: pyproject.toml .ci/system-packages
	@test -n "$(PYTHON)" || { echo "iostrata needs Python 3.11 or newer: install it or say make PYTHON=/path/to/python3"; exit 1; }
	PYTHON=$(PYTHON) sh .ci/system-packages
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) $$($(BIN)/python .ci/requirements.py)
	@$(COMPILE)
	@touch $@

$(VENV)/test-extras: $(VENV)/dependencies
	PYTHON=$(PYTHON) sh .ci/system-packages test
	$(INSTALL) $$($(BIN)/python .ci/requirements.py test)
	@$(COMPILE)
	@touch $@

$(VENV)/docs-extras: $(VENV)/dependencies
	$(INSTALL) $$($(BIN)/python .ci/requirements.py docs)
	@$(COMPILE)
	@touch $@

# Only where something has changed: a package installed anew compiles its loops anew.
install: $(VENV)/installed

# The wheel without compiled loops.
$(COPY)/made: $(VENV)/dependencies $(SOURCES)
	@rm -rf $(COPY) && mkdir -p $(COPY)
	@tar -cf - --exclude=__pycache__ pyproject.toml README.md LICENSE __init__.py py.typed $(PACKAGES) | tar -xf - -C $(COPY)
	@$(WHEEL) --wheel-dir $(COPY)/dist ./$(COPY)
	@touch $@

# Loops that are C functions are there at once, and numba is not imported; without a compiler for C, numba's own are kept.
$(VENV)/installed: $(COPY)/made .ci/signatures.json
	@echo "compiling loops, which takes a minute or two"
	@set -e; if command -v gcc >/dev/null && test -e "$$($(BIN)/python -c '$(HEADER)')"; then \
		rm -rf $(COPY)/plain $(COPY)/model/compiled; \
		$(BIN)/python -m zipfile -e $(COPY)/dist/*.whl $(COPY)/plain; \
		PYTHONPATH=$(COPY)/plain $(BIN)/python .ci/compile_kernels.py $(COPY)/model/compiled; \
		$(WHEEL) --wheel-dir $(COPY)/dist/compiled ./$(COPY); \
		$(INSTALL) --no-deps --force-reinstall $(COPY)/dist/compiled/*.whl; \
	else \
		$(INSTALL) --no-deps --force-reinstall $(COPY)/dist/*.whl; \
		$(BIN)/python .ci/compile_kernels.py; \
	fi
	@$(COMPILE)
	@touch $@

PYTHONS ?= $(PYTHON)
# Loops that are C functions need no numba: the wheel does not ask for it. Each wheel is tried in an empty environment.
wheels: $(COPY)/made
	@rm -rf build/wheels && mkdir -p dist
	@set -e; for python in $(PYTHONS); do \
		made=build/wheels/$$(basename $$python); \
		$$python -m venv $$made/with-numba; \
		$$made/with-numba/bin/python -m pip install --quiet --disable-pip-version-check setuptools $(COPY)/dist/*.whl; \
		cp -r $(COPY) $$made/copy; cd $$made/copy; rm -rf dist build plain model/compiled; cd - >/dev/null; \
		$$made/with-numba/bin/python .ci/compile_kernels.py $$made/copy/model/compiled; \
		sed -i '/"numba>=/d' $$made/copy/pyproject.toml; \
		tag=$$($$python -c 'import sys; print("cp%d%d" % sys.version_info[:2])'); \
		$$made/with-numba/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $$made \
			--config-settings=--build-option=--python-tag=$$tag \
			--config-settings=--build-option=--plat-name=$$(uname -s | tr A-Z a-z)_$$(uname -m) ./$$made/copy; \
		$$python -m venv $$made/empty; \
		$$made/empty/bin/python -m pip install --quiet --disable-pip-version-check $$made/*.whl; \
		env PATH= $$made/empty/bin/python -B .ci/try_wheel.py fixtures; \
		mv $$made/*.whl dist; \
	done

loop-types: $(COPY)/made $(VENV)/test-extras
	rm -f .ci/signatures.json $(VENV)/installed
	$(INSTALL) --no-deps --force-reinstall $(COPY)/dist/*.whl
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --signatures tests

clean:
	rm -rf $(VENV) build $(DEMO)
