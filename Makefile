# `make demo` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SITE = $(BIN)/sphinx-build -W --keep-going -q docs build/site
LOCK = constraints.txt
# Of packages that build others, pip before 25.3 takes the versions from the first, later ones from the second.
LOCKED = PIP_CONSTRAINT=$(LOCK) PIP_BUILD_CONSTRAINT=$(LOCK)
INSTALL = $(LOCKED) $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable
TOOLS = build/tools/bin

# Without bytecode each process of the tests compiles pytest's plug-ins anew, with their assertions.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-newest test-oldest test-wheel lint docs figures figures-check bench bench-check lock release clean

demo: $(VENV)/.installed
	@echo "langfocus: crawling 500 pages of the sample web (the first crawl also compiles its kernels)"
	$(BIN)/langfocus crawl -a lang=de -a web=sample -a pages=500

test: $(VENV)/.installed-test
	@echo "langfocus: running all tests; this takes about six minutes on two cores"
	$(BIN)/python -m pytest -n auto --dist worksteal

# All tests with the newest, or with the oldest versions that pyproject.toml allows; the oldest need Python 3.11.
# SCRAPY=git+https://github.com/scrapy/scrapy@master takes that one in spite of its upper bound.
test-newest test-oldest: test-%: build/%/.installed
	build/$*/bin/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(SITE)

docs: $(VENV)/.installed-test
	$(SITE)

figures: $(VENV)/.installed-test
	$(INSTALL) '.[test,engines]'
	$(BIN)/python -m benchmarks.figures $(if $(ONLY),--only $(ONLY))

figures-check: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.figures --check

bench: $(VENV)/.installed-test
	$(INSTALL) '.[test,engines]' crawlee[beautifulsoup]
	$(BIN)/python -m benchmarks.run $(if $(ONLY),--only $(ONLY)); kept=$$?; \
	$(BIN)/python -m benchmarks.docs_tables docs/research/benchmarks.md && exit $$kept

bench-check: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.run --check $(if $(ONLY),--only $(ONLY))

$(VENV)/.installed: pyproject.toml $(LOCK)
	@echo "langfocus: making an environment in $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "langfocus: downloading and installing some 50 packages, about 250 MB; this takes a minute or two"
	@$(INSTALL) .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@echo "langfocus: installing what the tests need"
	@$(INSTALL) '.[test]'
	@touch $@

$(VENV)/.installed-lint: $(VENV)/.installed-test
	@echo "langfocus: installing the linters"
	@$(INSTALL) '.[test,lint]'
	@touch $@

# Exact versions for each Python and each system, also of the packages that build others.
lock: $(TOOLS)/uv
	@echo '# Exact versions for Python 3.11 and newer, by `make lock`.' > build/$(LOCK)
	printf '%s\n' build editables hatchling setuptools twine uv | $(TOOLS)/uv pip compile --quiet --universal \
	    --python-version 3.11 --all-extras --no-header --no-annotate pyproject.toml - >> build/$(LOCK)
	mv build/$(LOCK) $(LOCK)

# The wheel and the archive of the sources, each in an environment that has nothing else.
test-wheel: $(TOOLS)/uv
	rm -rf dist
	$(LOCKED) $(TOOLS)/python -m build
	$(TOOLS)/twine check --strict dist/*
	for archive in dist/*; do \
	    $(TOOLS)/python tests/support/installation.py $$archive $(LOCK) || exit 1; done

release: test-wheel
	@echo "langfocus: dist/ is ready; nothing was published"

$(TOOLS)/uv:
	$(PYTHON) -m venv build/tools
	$(TOOLS)/python -m pip install --quiet --disable-pip-version-check --constraint $(LOCK) build twine uv

build/newest/.installed: RANGE = --resolution highest
build/oldest/.installed: RANGE = --resolution lowest-direct
build/newest/.installed build/oldest/.installed: $(TOOLS)/uv pyproject.toml
	$(TOOLS)/uv venv --quiet --clear --python $(PYTHON) $(@D)
	$(TOOLS)/uv pip install --quiet --compile-bytecode --python $(@D) $(RANGE) --editable '.[test]'
	$(if $(SCRAPY),$(TOOLS)/uv pip install --quiet --compile-bytecode --python $(@D) '$(SCRAPY)')
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
