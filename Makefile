# Facet builds with Meson and Ninja; these targets are the short way to them.
# `make help` lists them. Missing Debian packages (packages.txt) are installed on demand.
BUILD ?= build
COMPILER ?= gcc
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=
FUZZ_PROGRAMS ?= 2000
FUZZ_SEED ?= 1
C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h' '*.inc')

.DEFAULT_GOAL := all
.PHONY: all packages demo test test-long bench fuzz fuzz-hart errata install clean format tidy help

all: packages $(BUILD)/build.ninja ## build build/facet
	@ninja -C $(BUILD)

packages: ## install the Debian packages that are missing
	@tools/install_packages.sh packages.txt

$(BUILD)/build.ninja: | packages
	@CC=$(COMPILER) meson setup $(BUILD)

demo: all ## show what Facet can do; outputs in out/
	@PATH="$(CURDIR)/$(BUILD):$$PATH" tools/demo.sh

test: all ## build, run every test, end with `N passed, N failed`
	@tools/run_tests $(BUILD)

test-long: all ## the same with the long versions of the tests
	@FACET_TEST_LONG=1 tools/run_tests $(BUILD) --timeout-multiplier 20

bench: all ## measure every area beside its peer
	@$(BUILD)/facet bench all

errata: ## make docs/errata.md anew from spec/
	@python3 tools/gen_errata.py spec docs/errata.md

fuzz: packages ## fuzz all targets, or FUZZ_TARGETS, for FUZZ_SECONDS seconds each
	@test -e build-fuzz/build.ninja || CC=clang meson setup build-fuzz -Dfuzz=true \
	    -Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C build-fuzz
	@tools/fuzz.sh build-fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

fuzz-hart: all ## FUZZ_PROGRAMS random programs on the hart and on qemu
	@python3 tools/fuzz_hart.py --runner $(BUILD)/tests/xphmg/hart/fuzz_hart_run --facet $(BUILD)/facet \
	    --programs $(FUZZ_PROGRAMS) --seed $(FUZZ_SEED)

install: all ## install below DESTDIR/PREFIX
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@DESTDIR=$(abspath $(DESTDIR)) meson install -C $(BUILD)

clean: ## remove everything that was built
	@rm -rf build build-* out

format: ## reformat the C files
	@clang-format -i $(C_FILES)

tidy: all ## clang-tidy over the C files
	@run-clang-tidy -quiet -p $(BUILD) '^(?!.*(isa_tables|/tests/)).*\.c$$'

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | \
	    while IFS="$$(printf '\t')" read -r name text; do printf '  %-10s %s\n' "$$name" "$$text"; done
