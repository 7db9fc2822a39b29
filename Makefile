# Two commands matter on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LOCKS  := requirements/build.lock requirements/dev.lock
export PYTHONHASHSEED := 0

.PHONY: setup lock demo test test-quick lint style bench bench-spark simulators random-lint soak sweep reproduce clean

setup: $(VENV)/.installed

# What is installed is what the locks name, to the byte. What has no wheel is built by the locked setuptools, which
# therefore comes first.
PIP    := $(BIN)/pip --quiet --disable-pip-version-check install
$(VENV)/.installed: pyproject.toml setup.py $(LOCKS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "streamjoin needs Python 3.11 or newer: set PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --requirement requirements/build.lock
	$(PIP) --require-hashes --no-build-isolation --requirement requirements/dev.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# Renews the locks: the newest versions that pyproject.toml allows and that one set serves all Pythons with.
LOCK   := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-emit-index-url --custom-compile-command 'make lock'
lock: setup
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		| $(LOCK) --output-file requirements/build.lock -
	$(LOCK) --all-extras --constraint requirements/build.lock --output-file requirements/dev.lock pyproject.toml

demo: setup
	$(BIN)/python -m streamjoin.cli.demo

PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
test: setup lint
	$(PYTEST)

# For the inner loop: what needs neither other programs nor compiled models, and random cases of every design.
test-quick: setup style
	STREAMJOIN_PROFILE=quick $(PYTEST)

lint: style
	$(BIN)/python -m tests.type_check

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# ARGS="--suite low-latency", bisort, bisort-large, hash or hash-clock (hours): what these are held to;
# "--suite yardstick": what one CPU core does;
# --record keeps it under docs/results.
bench: setup
	$(BIN)/python -m streamjoin.report.bench.benchmark $(ARGS)

# The records under docs/results/spark: hours on two cores; ARGS='--only kills' is one of them.
bench-spark: setup
	$(BIN)/python -m streamjoin.report.bench.spark_bench $(ARGS)

# The records under docs/results: the clock must not fall as cores are added. Hours, unless they are in the cache.
sweep: setup
	$(BIN)/streamjoin sweep handshake -p cores=2,4,8,16,32 -p window='8*cores' -p scan=parallel,sequential \
		--target ecp5-85k --seeds '3-2*min(1,cores//32)' --title 'Handshake join: clock, area and throughput against cores' \
		-o docs/results/clock $(ARGS)
	$(BIN)/streamjoin sweep handshake -p cores=2,4,8,16,32 -p window='8*cores' -p scan=sequential \
		-p storage=memory --target ecp5-85k --seeds '3-2*min(1,cores//32)' \
		--title 'Handshake join, windows in memory: clock, area and throughput against cores' \
		-o docs/results/clock-memory $(ARGS)
	$(BIN)/streamjoin sweep llhj,handshake-async -p cores=2,4,8,16 -p window='64*cores' --target ecp5-85k@195 \
		--seeds 3 \
		--title 'Low-latency and asynchronous handshake join: clock, area and throughput against cores' \
		-o docs/results/clock-low-latency $(ARGS)

# The papers' figures and tables beside ours, under docs/results/papers.
reproduce: setup
	$(BIN)/streamjoin reproduce -o docs/results/papers $(ARGS)

# Every preset at full size in Icarus Verilog, as Verilog and as SystemVerilog; ARGS=--record keeps it.
simulators: setup
	$(BIN)/python -m tests.simulators $(ARGS)

# What linters say of 210 parameter sets drawn at random; ARGS=--record keeps it.
random-lint: setup
	$(BIN)/python -m tests.random_lint $(ARGS)

soak: setup
	$(BIN)/python -m tests.soak $(ARGS)

clean:
	rm -rf build demo-output
