# make            builds build/notifyctl
# make help       lists the rest
#
# Thin on purpose: CMakeLists.txt knows how to build, scripts/run-tests.sh how to test. All of it runs unattended.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory
JOBS        ?= $(shell nproc)
PREFIX      ?= /usr/local
DESTDIR     ?=
FUZZ_SECONDS ?= 30
KILLS       ?= 1000
MESSAGES    ?= 100000
PUSH_MESSAGES ?= 5000

# $(call build,PRESET,TARGET…): configuring again takes half a second and sees new packages and files.
build = cmake --preset $(1) > build/$(1).log || { cat build/$(1).log; exit 1; }; \
        cmake --build --preset $(1) -j $(JOBS) --target $(2)

.PHONY: all build help deps deps-test test unit contract e2e sim lint tidy analyze docs asan asan-build tsan format bench kills push \
        fuzz fuzz-check coverage quickstart experiments install clean distclean dist-check

all: build  ## build/notifyctl (the default)

build: deps
	@$(call build,release-static,notifyctl)

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps:  ## packages and static libraries to build with; does nothing when they are there
	@scripts/install-packages.sh build
	@scripts/build-static-deps.sh

deps-test: deps
	@scripts/install-packages.sh test

quickstart: build  ## the example of the README, from nothing to a delivered message
	@examples/quickstart/run.sh

experiments: deps-test  ## ten thousand devices against a vendor that misbehaves
	@$(call build,release-static,notifyctl vendor_stub)
	@examples/experiments/run.sh

test: deps-test  ## every suite; the last line is "N passed, N failed"
	@$(call build,release-static,test_programs)
	@scripts/run-tests.sh unit contract sim e2e lint docs

unit contract e2e: deps-test  ## one suite
	@$(call build,release-static,test_programs)
	@scripts/run-tests.sh $@

sim: deps-test  ## the simulator, SEEDS=n histories (60)
	@$(call build,release-static,test_programs)
	@$(if $(SEEDS),SIM_SEEDS=$(SEEDS)) scripts/run-tests.sh sim

lint: deps-test  ## format, layers, includes, shell scripts, staticness, clang-tidy
	@$(call build,release-static,notifyctl)
	@scripts/run-tests.sh lint

tidy: deps-test  ## clang-tidy over src/ (some minutes; part of make test)
	@$(call build,release-static,test_programs)
	@scripts/lint.sh tidy

# Each source alone: the analyzer does not look into what a source includes.
analyze: deps-test  ## the same with clang's path-sensitive analyzer (a quarter of an hour)
	@$(call build,dev,notifyctl)
	@scripts/tidy.py build/dev 'clang-analyzer-*' -clang-analyzer-optin.cplusplus.VirtualCall

docs: deps-test  ## man pages and links
	@$(call build,release-static,notifyctl)
	@scripts/run-tests.sh docs

asan-build: deps-test
	@$(call build,asan,unit_tests contract_tests vendor_stub notifyctl fuzz_programs)

asan: asan-build  ## unit and contract suites under AddressSanitizer and UBSan, compiled by clang (part of CI)
	@scripts/run-tests.sh --build build/asan unit contract

fuzz-check: asan-build  ## every fuzzer over 2,000 inputs that are the same every time (part of CI)
	@scripts/run-fuzzers.sh build/asan runs=2000

tsan: deps-test  ## unit and contract suites under ThreadSanitizer
	@$(call build,tsan,test_programs)
	@scripts/run-tests.sh --build build/tsan unit contract

coverage: deps-test  ## line coverage of the unit and contract suites
	@scripts/install-packages.sh coverage
	@$(call build,coverage,test_programs)
	@find build/coverage -name '*.gcda' -delete
	@scripts/run-tests.sh --build build/coverage unit contract
	@gcovr --root . --filter src/ --exclude-throw-branches --print-summary --html-details build/coverage/index.html \
	  --object-directory build/coverage | tee build/coverage/summary.txt

kills: deps-test  ## random SIGKILL of every process: KILLS (1000) over MESSAGES (100000)
	@$(call build,release-static,test_programs)
	@set -a; . build/release-static/test.env; KILLS=$(KILLS); MESSAGES=$(MESSAGES); \
	build/release-static/tests/e2e_tests --gtest_filter='KillHarness.*'

push: deps-test  ## PUSH_MESSAGES (5000) pushes to Apple's and as many to Google's protocol, every fault at once
	@$(call build,release-static,test_programs)
	@set -a; . build/release-static/test.env; PUSH_MESSAGES=$(PUSH_MESSAGES) \
	bats tests/e2e/push.bats --filter 'every fault at once'

fuzz: deps-test  ## every fuzzer for FUZZ_SECONDS (30)
	@$(call build,fuzz,fuzz_programs)
	@scripts/run-fuzzers.sh build/fuzz $(FUZZ_SECONDS)

bench: deps-test  ## the measurements of docs and their targets
	@scripts/install-packages.sh bench
	@$(call build,release-static,notifyctl vendor_stub bench_programs)
	@scripts/bench.sh build/release-static/bench

format: deps-test  ## clang-format over all sources
	@scripts/lint.sh format --fix

install:  ## the executable, man pages and completions below $(DESTDIR)$(PREFIX); builds nothing
	@test -x build/notifyctl || { echo "make install: build/notifyctl is missing: run make first" >&2; exit 1; }
	@install -D -m 755 build/notifyctl '$(DESTDIR)$(PREFIX)/bin/notifyctl'
	@shopt -s nullglob; at='$(DESTDIR)$(PREFIX)/share'; \
	for page in man/*.[1-8]; do install -D -m 644 "$$page" "$$at/man/man$${page##*.}/$${page##*/}"; done; \
	for file in completions/*.bash; do install -D -m 644 "$$file" "$$at/bash-completion/completions/notifyctl"; done; \
	for file in completions/_notifyct[l]; do install -D -m 644 "$$file" "$$at/zsh/site-functions/_notifyctl"; done; \
	for file in completions/*.fish; do install -D -m 644 "$$file" "$$at/fish/vendor_completions.d/notifyctl.fish"; done

clean:  ## what was built, but not the static libraries
	@find build -mindepth 1 -maxdepth 1 ! -name 'deps*' -exec rm -rf {} + 2> /dev/null || true

distclean:  ## everything that was built
	@rm -rf build

dist-check: deps-test  ## the committed tree builds, installs and runs without git
	@scripts/dist-check.sh
