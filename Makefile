# Thin: CMake builds, ctest tests, tools/ does the rest. CI=1 turns warnings into errors.
WERROR = $(if $(CI),ON,OFF)
FUZZ_SECONDS ?= 60
# Random questions to the accountant: 10 to 30 minutes of one core. The sanitizers ask a thousand.
CHAOS_QUESTIONS ?= 1000000
# Reports through a leader and a helper that are killed, stopped and cut off: about ten minutes for each database.
CHAOS_REPORTS ?= 1000000
# Random queries to two stores that differ in what no query may tell: about five minutes of one core.
CHAOS_QUERIES ?= 100000
# Random recipes, each linted and offered to a device.
CHAOS_RECIPES ?= 10000
CHAOS_DEVICES ?= 4000
# Keys in the comparison of X25519 in lanes with the crypto library, products in its iteration, times in each pass of its timing test.
CHAOS_KEYS ?= 10000000
CHAOS_PRODUCTS ?= 1000000
CHAOS_TIMES ?= 100000
# Signatures in the comparison of Ed25519 in lanes, and points in that of its sets.
CHAOS_SIGNATURES ?= 300000
# Random rounds of every method that has machines; with a number, nothing is left out for slow ones.
CHAOS_ROUNDS ?= 10000

.PHONY: all deps build installed demo test bench lint fuzz chaos
all: build

deps:
	@sh tools/deps.sh

build: deps
	@cmake --preset release -DSOTTO_WERROR=$(WERROR) >/dev/null
	@cmake --build --preset release

# What `cmake --install build/release` installs: the program and the libraries, without tests and benchmarks.
installed:
	@sh tools/deps.sh --no-peers
	@cmake --preset release -DSOTTO_WERROR=$(WERROR) >/dev/null
	@cmake --build --preset release --target installed

# The program alone: tests, benchmarks and the libraries that are installed are not needed for it.
demo:
	@sh tools/deps.sh --no-peers
	@cmake --preset release -DSOTTO_WERROR=$(WERROR) >/dev/null
	@cmake --build --preset release --target sotto_program
	@build/release/sotto demo

test: build
	@ctest --preset release

bench: build
	@sh tools/bench.sh

lint: deps
	@sh tools/lint.sh

fuzz: deps
	@sh tools/fuzz.sh $(FUZZ_SECONDS)

chaos: build
	@SOTTO_CHAOS_QUESTIONS=$(CHAOS_QUESTIONS) SOTTO_CHAOS_REPORTS=$(CHAOS_REPORTS) SOTTO_CHAOS_QUERIES=$(CHAOS_QUERIES) \
		SOTTO_CHAOS_RECIPES=$(CHAOS_RECIPES) SOTTO_CHAOS_DEVICES=$(CHAOS_DEVICES) \
		SOTTO_CHAOS_KEYS=$(CHAOS_KEYS) SOTTO_CHAOS_PRODUCTS=$(CHAOS_PRODUCTS) SOTTO_CHAOS_TIMES=$(CHAOS_TIMES) \
		SOTTO_CHAOS_SIGNATURES=$(CHAOS_SIGNATURES) SOTTO_CHAOS_POINTS=$(CHAOS_SIGNATURES) \
		SOTTO_CHAOS_ROUNDS=$(CHAOS_ROUNDS) SOTTO_CHAOS_FIGURES=1 SOTTO_CHAOS_CSV=300 SOTTO_TEST_LONG=1 \
		ctest --preset release -L chaos --no-tests=ignore
	@cmake --workflow --preset asan
	@ctest --preset asan-twins
	@cmake --workflow --preset tsan
	@SOTTO_TIDY_NODES=225000 sh tools/lint.sh
