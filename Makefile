# `make demo` and `make test` set up everything they need in .venv, from pyproject.toml alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint docs bench model rendered distilled papers fuzz kills hostile clean

demo: $(STAMP)
	@bash examples/demo.sh $(BIN)/espalier

test: $(STAMP) lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: $(STAMP)
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/mypy

# The documentation as a site, in build/site; a warning is an error.
docs: $(STAMP)
	$(BIN)/mkdocs build --strict --quiet

bench: $(STAMP)
	$(BIN)/python bench/crf.py --data ../shared/data
	$(BIN)/python bench/accuracy.py --data ../shared/data
	$(BIN)/python bench/parse.py --data ../shared/data
	$(BIN)/python bench/serve.py

# Trains the bundled model of references: about two hours on two cores, and what its steps need before it.
model: $(STAMP) rendered distilled papers
	$(BIN)/python scripts/train_citations.py --data ../shared/data --stage crf
	$(BIN)/python scripts/train_citations.py --data ../shared/data --stage net --begin build/experts --epochs 5 --rate 0.001
	$(BIN)/python scripts/train_citations.py --data ../shared/data --stage join
	$(BIN)/python scripts/calibrate_citations.py --data ../shared/data
	$(BIN)/python scripts/train_lines.py --data ../shared/data --told src/espalier/documents/deciding/lines.espalier \
		--printed build/papers/train.jsonl build/papers_mixed/train.jsonl
	$(BIN)/python scripts/adapt_lines.py --data ../shared/data
	$(BIN)/python scripts/list_learned.py --data ../shared/data

# Labelled references from works and citation styles, in build/rendered: needs Node.js and npm; an hour.
rendered: $(STAMP)
	$(BIN)/python scripts/render_references.py --data ../shared/data --train 200000 --dev 4000 --unseen 4000

# The net of the bundled model, which learns from larger ones: twenty minutes with PyTorch on an accelerator, days without.
# Without it, `--stage net` without `--begin` trains one on two cores, a little worse: the model before was made so.
distilled: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[torch]'
	for seed in 1 2; do $(BIN)/python scripts/render_references.py --data ../shared/data --output build/clean$$seed \
		--train 200000 --clean --seed $$seed; done
	$(BIN)/python scripts/distil_net.py pack --data ../shared/data \
		--clean build/clean1/train.jsonl.gz build/clean2/train.jsonl.gz
	$(BIN)/python scripts/distil_net.py learn
	$(BIN)/python scripts/distil_net.py take

# Papers with reference lists whose lines are known, for the model of lines: needs Chromium; ten minutes.
papers: $(STAMP) rendered
	$(BIN)/python scripts/print_documents.py --data ../shared/data --output build/papers --train 126 --no-files
	$(BIN)/python scripts/print_documents.py --data ../shared/data --output build/papers_mixed --train 320 --mixed --no-files

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(STAMP)

# New random inputs against every entrance, for so many minutes.
MINUTES ?= 2
fuzz: $(STAMP)
	ESPALIER_FUZZ=$(MINUTES) $(BIN)/python -m pytest tests/fuzz

# A hundred processes killed at random moments; nothing confirmed may be lost.
kills: $(STAMP)
	$(BIN)/python scripts/kill_hundred.py

# Lines of ten megabytes against every entrance, and requests that were made to harm against a server (Linux).
hostile: $(STAMP)
	$(BIN)/python scripts/measure_hostile.py
	$(BIN)/python scripts/measure_hostile.py --attacks

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
