# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of this checkout; see README.md and CONTRIBUTING.md.
#   make demo            the suite against the embedded reference router, and reports
#   make test            everything: linters, types, engine, the suite under pytest, unit tests
#   make lint            ruff, mypy --strict, luacheck, rustfmt and clippy
#   make unit            the unit tests alone
#   make suite           the suite under plain pytest
#   make engine          the engine's own tests
#   make routers         the suite against every built-in router, serial lines in each pair of roles
#   make mutants         the suite against the broken routers (FULL=1: every case with every fault,
#                        for hours; GO_ON=1: where an interrupted FULL=1 ended; DRAWN=300: so many of
#                        them, drawn by SEED, with the profile of ten lines as well, in place of all)
#   make variants        the suite against routers that are right in other ways (FULL=1: every case with
#                        every permission and with combinations that cover all pairs, for hours;
#                        GO_ON=1: where an interrupted FULL=1 ended; DRAWN=10: then every case with ten
#                        at once against a built-in router, both drawn by SEED; ALTERNATIVES=24: then
#                        the cases that each of so many drawn ones touches, 300: that each touches)
#   make networks        the suite over networks that delay, lose and reorder (for an hour or more;
#                        GO_ON=1: where an interrupted one ended; SELECT=... cases)
#   make code-mutants    the suite against mutants of the reference router's code (N=200 SEED=1: so
#                        many, drawn so; CHECK=1: the sample that is kept, whose score may not fall)
#   make walk-faults     whether random walks find faults of memory, and make them short
#   make moments         commands interrupted at moments drawn by lot (N=20 of each)
#   make judge-asan      whole runs with the judge under the address and undefined sanitizers
#   make hostile         the suite against every hostile router: verdicts, memory, seconds
#   make fuzz            the judge on changed inputs, guided by what they reach (SECONDS=60; clang)
#   make fuzz-engine     the load engine's decoder likewise (SECONDS=60; Rust nightly, cargo-fuzz)
#   make judge-mutants   both judges against changed packets
#   make pcaps           the golden captures of pcaps/ anew
#   make pictures        the pictures of the documents anew (Chromium; Wireshark, Xvfb, ImageMagick,
#                        xdotool, poppler-utils)
#   make bench           what commands, one case and the suite take; the judges' and the engine's speed
#   make linux-router    the suite against the Linux kernel's X.25 in a virtual machine
#   make linux-switch    the same kernel as a switch between two sides, in a namespace of its own
#   make dist            wheels and source distributions, checked, into dist/
#   make roots           those wheels on bare Debian 12 and 13: install, doctor, run (root, mmdebstrap)
#   make wireshark-zip   dissector and profile for those without Python, dist/x25shark-wireshark.zip
#   make testers         a load by 100 small testers at once (TESTERS=100 RATE=200 calls/s)
#   make testers-netns   four testers on hosts of their own (network namespaces) against one tester
#   make known-truth     bench and overload against a relay whose figures are known (ONLY=name; idle
#                        machine)
#   make measure-all     bench, overload and matrix, defaults and --quick, beside the published tables
#                        (LINUX=1: against the virtual machine too; idle machine)
#   make clean           remove what these commands made
.PHONY: demo test lint unit suite engine routers mutants variants networks code-mutants walk-faults moments fuzz fuzz-engine hostile judge-asan judge-mutants pcaps pictures bench linux-router linux-switch roots wireshark-zip testers testers-netns known-truth measure-all clean \
	setup-demo setup-linux setup-test

BIN := .venv/bin
REPORT ?= x25shark-report
export PATH := $(shell ci/rust-path)
CARGO := CARGO_TARGET_DIR=$(CURDIR)/.venv/target cargo

# An own network namespace keeps the addresses and port 1998 of this machine out of it. Where it is
# not to be had, x25shark finds another way to capture, or says what to type.
OWN := $(shell if [ "$$(id -u)" = 0 ]; then unshare -n true; else unshare -Urn true; fi \
	2>/dev/null && echo --own-namespace)

# What make variants DRAWN=10 draws: each state of the tree another ten, and one the same each time.
SEED ?= $(shell printf '%d' 0x$$(git rev-parse --short=6 'HEAD^{tree}' 2>/dev/null || echo 1))

# Modules that lie beside the tests.
BESIDE := conformance:scapy_layers:dissectors/gaps:conformance/tests/reference

demo: setup-demo
	@echo "Running the suite against the embedded reference router (profile reference)."
	@$(BIN)/x25shark run --router reference $(OWN) --output $(REPORT)
	@echo "The same router by serial lines (profiles reference-serial and reference-xot-serial)."
	@$(BIN)/x25shark run --router reference-serial $(OWN) --output $(REPORT)-serial
	@$(BIN)/x25shark run --router reference-xot-serial $(OWN) --output $(REPORT)-xot-serial
	@if $(BIN)/python -c "import x25shark_engine, MLRsearch" 2>/dev/null; then \
		echo "How fast it is (x25shark bench --quick, one size)."; \
		$(BIN)/x25shark bench --quick -P 128 --output $(REPORT)-bench || [ $$? = 1 ]; \
	else echo "How fast a router is: ci/setup engine, then .venv/bin/x25shark bench --quick"; fi

test: setup-test
	@$(MAKE) --no-print-directory lint engine suite unit

setup-demo:
	@ci/setup demo

setup-linux:
	@ci/setup linux

setup-test:
	@ci/setup test

lint: setup-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict conformance/x25shark scapy_layers/scapy_x25
	MYPYPATH=$(BESIDE) $(BIN)/mypy --strict --exclude conformance/tests/reference conformance/tests
	MYPYPATH=$(BESIDE) $(BIN)/mypy --strict scapy_layers/tests
	MYPYPATH=$(BESIDE):conformance/tests/reference $(BIN)/mypy --strict conformance/tests/reference
	MYPYPATH=$(BESIDE):dissectors/tests $(BIN)/mypy --strict dissectors
	$(BIN)/mypy --strict ci/linux-router
	luacheck --quiet --config dissectors/lua/.luacheckrc dissectors/lua
	@if cargo fmt --version >/dev/null 2>&1; then \
		echo "cargo fmt --check"; cd conformance/engine && cargo fmt --check; \
	else echo "rustfmt is not installed: left out"; fi
	@if ! cargo clippy --version >/dev/null 2>&1; then echo "clippy is not installed: left out"; \
	elif [ "$$(clippy-driver --rustc --version 2>/dev/null)" != "$$(rustc --version)" ]; then \
		echo "clippy is of another Rust than rustc, which reads none of what this one makes: left out"; \
	else \
		echo "cargo clippy --all-features -- -D warnings"; \
		cd conformance/engine && \
		PYO3_PYTHON=$(CURDIR)/$(BIN)/python $(CARGO) clippy --quiet --locked --all-targets \
			--all-features -- -D warnings; \
	fi

# The same examples each time; plain pytest draws new ones. Most tests wait for programs that they
# started, so two for each processor run beside each other; what measures runs alone.
unit: setup-test
	$(BIN)/pytest -q --hypothesis-profile=ci -n $(shell expr $$(nproc) \* 2) --dist worksteal -m "not measures"
	$(BIN)/pytest -q --hypothesis-profile=ci -m measures

suite: setup-test
	$(BIN)/pytest -q --x25shark-output $(REPORT) $(OWN) --pyargs x25shark.suite

engine: setup-test
	cd conformance/engine && $(CARGO) test --quiet --locked

routers: setup-test
	$(BIN)/python -m x25shark.selftest.routers $(OWN)

mutants: setup-test
	$(BIN)/python -m x25shark.selftest.mutants $(if $(FULL),--full --json $(REPORT)-mutants.json) \
		$(if $(GO_ON),--go-on) $(if $(DRAWN),--drawn $(DRAWN) --seed $(SEED))

variants: setup-test
	$(BIN)/python -m x25shark.selftest.variants \
		$(if $(FULL),--full --pairs --json $(REPORT)-variants.json) $(if $(GO_ON),--go-on)
	$(if $(DRAWN)$(ALTERNATIVES),$(BIN)/python -m x25shark.selftest.variants --seed $(SEED) \
		$(if $(DRAWN),--drawn $(DRAWN) --profile any) \
		$(if $(ALTERNATIVES),--alternatives $(ALTERNATIVES)))

networks: setup-test
	$(BIN)/python -m x25shark.selftest.networks --json $(REPORT)-networks.json \
		--output $(REPORT)-networks $(if $(SELECT),--select "$(SELECT)") $(if $(GO_ON),--go-on)

code-mutants: setup-test
	$(BIN)/python -m x25shark.selftest.code_mutants --json $(REPORT)-code-mutants.json --go-on \
		$(if $(CHECK),--check,--count $(or $(N),100) $(if $(SEED),--seed $(SEED)))

walk-faults: setup-test
	$(BIN)/python -m x25shark.selftest.walk_faults

moments: setup-test
	for command in run check walk init stress sweep overload bench matrix ip; do \
		$(BIN)/python -m x25shark.selftest.moments --command $$command --count $(or $(N),20) || exit 1; \
	done

judge-asan: setup-test
	judge=$$($(BIN)/python -c 'from x25shark.judges import program; \
		print(program.build("asan", "x25shark-judge-asan"))') && \
	for router in reference reference-serial reference-xot-serial; do \
		X25SHARK_JUDGE=$$judge ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
		UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 $(BIN)/x25shark run --router $$router $(OWN) \
			--judge libwireshark --output $(REPORT)-asan/$$router || exit 1; \
	done

hostile: setup-test
	$(BIN)/python conformance/tests/hostile/measure.py $(if $(SECONDS),--deadline $(SECONDS)) --jobs $(or $(JOBS),3)

fuzz: setup-test
	$(BIN)/python -m x25shark.selftest.judge_fuzz --seconds $(or $(SECONDS),60) --keep $(REPORT)-fuzz

# What it keeps beside the corpus of the repository lies in $(REPORT)-fuzz, findings as well.
fuzz-engine:
	@cargo +nightly fuzz --version >/dev/null 2>&1 || { echo "make fuzz-engine: cargo-fuzz and a nightly \
	toolchain are needed: rustup toolchain install nightly; cargo install --locked cargo-fuzz"; exit 2; }
	mkdir -p $(REPORT)-fuzz/engine
	cd conformance/engine && cargo +nightly fuzz run decode \
		--target-dir $(CURDIR)/conformance/engine/target/fuzz $(abspath $(REPORT))-fuzz/engine \
		fuzz/corpus/decode -- -max_len=512 -max_total_time=$(or $(SECONDS),60) -print_final_stats=1 \
		-artifact_prefix=$(abspath $(REPORT))-fuzz/

judge-mutants: setup-test
	$(BIN)/python -m x25shark.selftest.judge_mutants
	$(BIN)/python -m x25shark.selftest.judge_mutants --router reference-serial --select "HDLC*,LAPB*"

pcaps: setup-test
	$(BIN)/python -m x25shark.selftest.golden pcaps

pictures: setup-test
	$(BIN)/python -m x25shark.selftest.pictures

bench: setup-test
	$(BIN)/python -m x25shark.selftest.author_loop --keep $(REPORT)-bench.json
	$(BIN)/python -m x25shark.judges.benchmark
	$(BIN)/python -m x25shark.selftest.dissector_speed pcaps
	CARGO_TARGET_DIR=$(CURDIR)/.venv/target conformance/engine/bench.sh

linux-router: setup-linux
	ci/linux-router/start
	@status=0; $(BIN)/x25shark run --router linux --output $(REPORT)-linux || status=$$?; \
	ci/linux-router/stop; exit $$status

linux-switch: setup-linux
	ci/linux-router/in-namespace sh -c 'ci/linux-router/start --name switch --net tap --switch; \
	status=0; $(BIN)/x25shark run --router linux-switch --output $(REPORT)-linux-switch || \
	status=$$?; ci/linux-router/stop --name switch; exit $$status'

dist: setup-test
	ci/dist

roots:
	ci/roots

wireshark-zip: setup-test
	$(BIN)/x25shark wireshark zip dist/x25shark-wireshark.zip

testers: setup-test
	$(BIN)/python -m x25shark.load.simulation --testers $(or $(TESTERS),100) --rate $(or $(RATE),200)

testers-netns: setup-test
	$(BIN)/python -m x25shark.selftest.testers_netns --testers $(or $(TESTERS),4) --rate $(or $(RATE),100)

known-truth: setup-test
	$(BIN)/python -m x25shark.selftest.known_truth $(addprefix --only ,$(ONLY))

measure-all: setup-test $(if $(LINUX),setup-linux)
	$(BIN)/python -m x25shark.selftest.measure_all $(if $(LINUX),--linux) --output $(REPORT)-measured

clean:
	rm -rf .venv $(REPORT) $(REPORT)-asan $(REPORT)-bench $(REPORT)-fuzz $(REPORT)-linux $(REPORT)-measured $(REPORT)-pictures $(REPORT)-serial $(REPORT)-xot-serial conformance/engine/target dissectors/judge/build
