# make demo   set everything up and analyse a real trace
# make test   set everything up and run the tests
# make lint   formatting, lint and types
# make docs   the user guide, in build/guide
# make bench  measurements against named peers (half an hour; 4 GB in build/traces)
# make accuracy   the study of the period detection beside FTIO; writes docs/accuracy.md (about an hour on two cores)

PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
PACKAGES := model otf2io signals layers analysis export cli
DEMO := demo
# The wheel is built from a copy: an old build folder would leak deleted modules into it.
COPY := build/copy

.PHONY: demo test lint docs bench accuracy setup install clean

demo: install
	@mkdir -p $(DEMO)
	$(BIN)/iostrata layers fixtures/ncckpt4
	$(BIN)/iostrata periods fixtures/ncckpt4
	$(BIN)/iostrata compare fixtures/ncckpt4
	$(BIN)/iostrata convert fixtures/ncckpt4 $(DEMO)/ncckpt4.h5

test: install $(VENV)/test-extras
	$(BIN)/python -m pytest tests
	$(BIN)/python -m pytest --doctest-modules --pyargs iostrata

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
	$(BIN)/python benchmarks/attribution.py
	$(BIN)/python benchmarks/report.py

accuracy: install $(VENV)/test-extras
	-$(BIN)/python -m pip install --quiet darshan
	$(BIN)/python benchmarks/accuracy/study.py

setup: $(VENV)/dependencies

$(VENV)/dependencies: pyproject.toml .ci/system-packages
	@test -n "$(PYTHON)" || { echo "iostrata needs Python 3.11 or newer: install it or say make PYTHON=/path/to/python3"; exit 1; }
	PYTHON=$(PYTHON) sh .ci/system-packages
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $$($(BIN)/python .ci/requirements.py)
	@touch $@

$(VENV)/test-extras: $(VENV)/dependencies
	PYTHON=$(PYTHON) sh .ci/system-packages test
	$(BIN)/python -m pip install --quiet $$($(BIN)/python .ci/requirements.py test)
	@touch $@

$(VENV)/docs-extras: $(VENV)/dependencies
	$(BIN)/python -m pip install --quiet $$($(BIN)/python .ci/requirements.py docs)
	@touch $@

install: $(VENV)/dependencies
	@rm -rf $(COPY) && mkdir -p $(COPY)
	@tar -cf - --exclude=__pycache__ pyproject.toml README.md LICENSE __init__.py py.typed $(PACKAGES) | tar -xf - -C $(COPY)
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(COPY)/dist ./$(COPY)
	@$(BIN)/python -m pip install --quiet --no-deps --force-reinstall $(COPY)/dist/*.whl

clean:
	rm -rf $(VENV) build $(DEMO)
