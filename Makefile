# Facet builds with Meson and Ninja; these targets are the short way to them.
# `make help` lists them. Missing Debian packages (packages.txt) are installed on demand.
BUILD ?= build
COMPILER ?= gcc
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=
FUZZ_PROGRAMS ?= 2000
FUZZ_SEED ?= 1
MUTATE ?= --count 300
WEB_TESTS ?=
C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h' '*.inc')

.DEFAULT_GOAL := all
.PHONY: all packages configure demo test test-long test-programs bench conformance fuzz fuzz-hart mutate rtl web site test-web arm64 deb errata pictures install clean format tidy help

all: configure ## build build/facet and what is installed with it
	@ninja -C $(BUILD) program

packages: ## install the Debian packages that are missing
	@tools/install_packages.sh packages.txt

configure: packages
	@CC="$(COMPILER)" tools/configure.sh $(BUILD)

demo: all ## show what Facet can do; outputs in out/
	@PATH="$(CURDIR)/$(BUILD):$$PATH" tools/demo.sh

test-programs: configure
	@ninja -C $(BUILD)

test: test-programs ## build, run every test, end with `N passed, N failed`
	@tools/run_tests $(BUILD)

test-long: test-programs ## the same with the long versions of the tests
	@FACET_TEST_LONG=1 tools/run_tests $(BUILD) --timeout-multiplier 20

bench: all ## measure every area beside its peer
	@$(BUILD)/facet bench all

deb: packages ## Debian packages in out/deb, checked by lintian and by using them
	@tools/install_packages.sh debian/packages.txt
	@tools/make_deb.sh out/deb
	@FACET_SOURCE=$(CURDIR) PYTHONPATH=tests python3 tests/deb/test_deb.py out/deb

conformance: configure ## write the conformance suite to build/conformance
	@ninja -C $(BUILD) conformance-programs
	@tools/conformance.sh $(BUILD)

errata: ## regenerate docs/errata.md from spec/
	@python3 tools/gen_errata.py spec docs/errata.md

pictures: all ## redraw the README's pictures in docs/pictures
	@PATH="$(CURDIR)/$(BUILD):$$PATH" tools/pictures.sh docs/pictures

fuzz: packages ## fuzz all targets, or FUZZ_TARGETS, for FUZZ_SECONDS seconds each
	@CC=clang tools/configure.sh build-fuzz -Dfuzz=true \
	    -Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C build-fuzz
	@tools/fuzz.sh build-fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

fuzz-hart: test-programs ## FUZZ_PROGRAMS random programs on the hart and on qemu
	@python3 tools/fuzz_hart.py --runner $(BUILD)/tests/xphmg/hart/fuzz_hart_run --facet $(BUILD)/facet \
	    --programs $(FUZZ_PROGRAMS) --seed $(FUZZ_SEED)

mutate: packages ## change the code in small ways and count what no test notices (MUTATE="--count 300 --seed 1")
	@python3 tools/mutate $(MUTATE)

rtl: all ## the SystemVerilog examples beside libfacet, with Verilator and yosys
	@tools/install_packages.sh rtl/packages.txt
	@rtl/check.sh $(BUILD) build-rtl

web: configure ## the inspector's page for `facet view`, in build/web (docs/view.md)
	@web/setup.sh
	@python3 wasm/build.py $(BUILD) $(BUILD)/web/wasm
	@ninja -C $(BUILD)/web/wasm
	@node web/build.mjs $(BUILD)/web/wasm/facet.wasm $(BUILD)/web/page.html

site: all web ## the inspector and the contract as a static site in out/site
	@python3 web/site/build_site.py --facet $(BUILD)/facet --tree . --style web/style \
	    --inspector $(BUILD)/web/page.html -o out/site

test-web: all web ## the page's tests: node and headless Chromium (WEB_TESTS="bvh"), end with `N passed, N failed`
	@web/test.sh $(BUILD) $(WEB_TESTS)

arm64: all ## build for arm64 too; its tests, and the same bits as here, under qemu
	@tools/install_packages.sh tools/arm64/packages.txt
	@tools/arm64/make_root.sh packages.txt build-arm64-root
	@tools/configure.sh build-arm64 -Dwerror=true --cross-file build-arm64-root/root.cross \
	    --cross-file tools/arm64/arm64.cross
	@PATH=/usr/lib/ccache:$$PATH ninja -C build-arm64 bits
	@FACET_NATIVE=$(abspath $(BUILD))/facet tools/run_tests build-arm64 --suite bits

install: configure ## install below DESTDIR/PREFIX
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD) program
	@DESTDIR=$(abspath $(DESTDIR)) meson install -C $(BUILD) --no-rebuild
	@test ! -e $(BUILD)/web/page.html || \
	    install -Dm644 $(BUILD)/web/page.html $(abspath $(DESTDIR))$(abspath $(PREFIX))/share/facet/page.html

clean: ## remove everything that was built
	@rm -rf build build-* out

format: ## reformat the C files
	@clang-format -i $(C_FILES)

tidy: test-programs ## clang-tidy over the C files
	@run-clang-tidy -quiet -p $(BUILD) '^(?!.*(isa_tables|/tests/)).*\.c$$'

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | \
	    while IFS="$$(printf '\t')" read -r name text; do printf '  %-10s %s\n' "$$name" "$$text"; done
