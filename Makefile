# `make demo` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SITE = $(BIN)/sphinx-build -W --keep-going -q docs build/site
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo test lint docs bench bench-check clean

demo: $(VENV)/.installed
	@echo "langfocus: crawling 500 pages of the sample web (the first crawl also compiles its kernels)"
	$(BIN)/langfocus crawl -a lang=de -a web=sample -a pages=500

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(SITE)

docs: $(VENV)/.installed-test
	$(SITE)

bench: $(VENV)/.installed-test
	$(INSTALL) '.[test,engines]' crawlee[beautifulsoup]
	$(BIN)/python -m benchmarks.run $(if $(ONLY),--only $(ONLY)); kept=$$?; \
	$(BIN)/python -m benchmarks.docs_tables docs/research/benchmarks.md && exit $$kept

bench-check: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.run --check $(if $(ONLY),--only $(ONLY))

$(VENV)/.installed: pyproject.toml
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

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
