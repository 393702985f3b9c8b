# make run    start the app (the first time: create .venv and install what it needs)
# make test   check style and types, run all tests (first: packages, and a Chromium where there is none)
# make lint   style and types only
# make bench  measure speed, write bench.json
# make soak   measure what takes minutes: thirty visitors for ten of them, a sweep killed twenty times
# make pictures  take the README's pictures anew
# make clean  delete what these commands made
#
# Any Python from 3.11 on:   make run PYTHON=python3.12
# Another build of PyTorch:  make run TORCH_INDEX=...   (see the README)
# Options for the command:   make run ARGS="--server.port 8600"   make test ARGS="-k kernels"

PYTHON ?= python3
VENV ?= .venv
TORCH_INDEX ?=
ARGS ?=

VPY := $(VENV)/bin/python
APP := $(VENV)/.app-installed
TESTS := $(VENV)/.tests-installed
PIP := $(VPY) -m pip --disable-pip-version-check
TORCH := $(shell sed -n '/^torch==/p' requirements.txt)

.PHONY: run test lint bench soak pictures clean setup setup-test
.DELETE_ON_ERROR:

run: $(APP)
	@echo "Starting Glauber Explorer. Open the URL below; Ctrl+C stops it."
	$(VPY) -m streamlit run app.py $(ARGS)

test: lint
	$(VPY) -m tests.browser.chromium
	$(VPY) -m pytest $(ARGS)

lint: $(TESTS)
	$(VPY) -m ruff check .
	$(VPY) -m ruff format --check .
	$(VPY) -m mypy glauber_core pages app.py

bench: $(TESTS)
	$(VPY) -m tests.bench $(ARGS)

soak: $(TESTS)
	$(VPY) -m tests.soak $(ARGS)

pictures: $(TESTS)
	$(VPY) -m pytest -q tests/browser/test_pictures.py
	mkdir -p tests/pictures
	cp test-artifacts/pictures/cold-light.png test-artifacts/pictures/compare-dark.png tests/pictures/

setup: $(APP)
setup-test: $(TESTS)

# The stamps are older than a changed requirements file, which installs again; otherwise nothing is to be done.
$(APP): requirements.txt | $(VPY)
	@echo "Installing the app's packages. The first time this takes a few minutes."
	$(if $(TORCH_INDEX),$(PIP) install "$(TORCH)" --index-url "$(TORCH_INDEX)")
	$(PIP) install -r requirements.txt
	@touch $@

$(TESTS): requirements-test.txt $(APP)
	$(PIP) install -r requirements-test.txt
	@touch $@

$(VPY):
	@command -v $(PYTHON) >/dev/null || { echo "There is no '$(PYTHON)' here: install Python 3.11 or newer, or name yours: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed and '$(PYTHON)' is older: name a newer one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "'$(PYTHON) -m venv' failed: on Debian and Ubuntu install the package python3-venv, then try again."; exit 1; }

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis test-artifacts bench.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
