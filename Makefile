# abba's build. `make help` lists the targets; CONTRIBUTING.md says more.
#
# Objects live in $(BUILD)/KIND/, one folder a build kind (release, asan, coverage, fuzz); the
# release program is $(BUILD)/abba. Rooms, tests and runners are found by name: no list to extend.
# Everything that a measured process could feel (zygote, runners, programs of known cost) is built
# one way only, whatever the kind.

BUILD   ?= build
KIND    ?= release
PREFIX  ?= /usr/local
DESTDIR ?=
WERROR  ?= $(if $(wildcard .git),1,0)
CFLAGS  ?= -O2 -g
T       ?=
V       ?= 0

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
Q := $(if $(filter 1,$(V)),,@)
say = @printf '  %-6s %s\n' $(1) '$(2)'

OBJ := $(BUILD)/$(KIND)
TOP := $(CURDIR)
ABSBUILD := $(abspath $(BUILD))

# ---- what there is -------------------------------------------------------------------------
HDR        := $(wildcard src/*/*.h)
ZYGOTE_SRC := $(wildcard src/zygote/*.c)
LIB_SRC    := $(filter-out src/zygote/% src/preload/%,$(wildcard src/*/*.c)) $(if $(ZYGOTE_SRC),src/run/zygote_image.S)
MAIN_SRC   := $(wildcard src/main.c)
UNIT_SRC   := $(wildcard tests/unit/test_*.c)
UNIT_HELP  := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
COST_SRC   := $(wildcard tests/cost/*.c)
KNOWN_SRC  := $(wildcard tests/cost/preload/*.c)
BENCH_SRC  := $(wildcard tests/bench/*.c)
FUZZ_SRC   := $(wildcard tests/fuzz/fuzz_*.c)
NETEM_SRC  := $(wildcard tests/netem/*.c)

LIB     := $(OBJ)/libabba.a
ABBA    := $(if $(filter release,$(KIND)),$(BUILD)/abba,$(OBJ)/abba)
ZYGOTE  := $(BUILD)/release/zygote
PRELOADS := $(patsubst src/preload/%.c,$(BUILD)/libabba-%.so,$(wildcard src/preload/*.c))
LIB_OBJ := $(patsubst src/%,$(OBJ)/%.o,$(basename $(LIB_SRC)))
UNIT    := $(UNIT_SRC:tests/unit/%.c=$(OBJ)/tests/%)
COST    := $(COST_SRC:tests/cost/%.c=$(BUILD)/cost/%) $(KNOWN_SRC:tests/cost/preload/%.c=$(BUILD)/cost/preload/%)
BENCH   := $(BENCH_SRC:tests/bench/%.c=$(OBJ)/bench/%)
FUZZ    := $(FUZZ_SRC:tests/fuzz/%.c=$(OBJ)/fuzz/%)

# ---- libraries: by pkg-config's names, and only those that the sources include ---------------
INCLUDED := $(shell grep -hoE '^ *\# *include *<[^>]+>' $(wildcard src/*/*.c) /dev/null | sed 's/.*<//;s/>//' | sort -u)
PC := $(if $(filter pcre2.h,$(INCLUDED)),libpcre2-8) \
      $(if $(filter cJSON.h cjson/%,$(INCLUDED)),libcjson) \
      $(if $(filter openssl/%,$(INCLUDED)),libcrypto) \
      $(if $(filter curl/%,$(INCLUDED)),libcurl) \
      $(if $(filter expat.h,$(INCLUDED)),expat) \
      $(if $(filter libmnl/%,$(INCLUDED)),libmnl) \
      $(if $(filter archive.h archive_entry.h,$(INCLUDED)),libarchive) \
      $(if $(filter elfutils/%,$(INCLUDED)),libdw) \
      $(if $(filter gelf.h,$(INCLUDED)),libelf)
PC := $(strip $(PC))
MISSING   := $(shell for m in $(PC); do pkg-config --exists $$m 2>/dev/null || echo $$m; done)
PC_CFLAGS := $(if $(PC),$(shell pkg-config --cflags $(PC) 2>/dev/null))
# libcurl is loaded when it is first called: see base/curl_late.c.
LIBS      := $(if $(PC),$(shell pkg-config --libs $(filter-out libcurl,$(PC)) 2>/dev/null)) -ldl \
             $(if $(filter perfmon/%,$(INCLUDED)),-lpfm) -lm
CMOCKA     = $(shell pkg-config --cflags --libs cmocka 2>/dev/null)

# ---- flags -----------------------------------------------------------------------------------
STD   := -std=gnu11 -D_GNU_SOURCE -ffp-contract=off -Isrc
WARN  := -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wno-string-conversion \
         $(if $(filter 1,$(WERROR)),-Werror)
PLAIN := $(STD) $(CFLAGS) $(WARN)
KIND_FLAGS_release  :=
KIND_FLAGS_asan     := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
KIND_FLAGS_coverage := -O0 --coverage
KIND_FLAGS_fuzz     := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ifeq ($(filter $(KIND),release asan coverage fuzz),)
$(error KIND is '$(KIND)': release, asan, coverage or fuzz)
endif
KIND_FLAGS := $(KIND_FLAGS_$(KIND))
KIND_CC    := $(if $(filter fuzz,$(KIND)),clang,$(CC))
ALL_CFLAGS := $(PLAIN) $(KIND_FLAGS) $(PC_CFLAGS) $(CPPFLAGS)
ALL_LD     := $(KIND_FLAGS) -Wl,--as-needed $(LDFLAGS)
DEPS        = -MMD -MP -MF $(@:.o=).d -MT $@

# The version, and where the data lies: known to one file each.
VERSION := $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null || \
             { h=$$(git describe --always --dirty --exclude '*' 2>/dev/null) && echo "0.0.0+g$$h"; } || \
             cat VERSION 2>/dev/null || echo 0.0.0)
VERSION := $(patsubst v%,%,$(VERSION))
DEFS_base/version := -DABBA_VERSION='"$(VERSION)"'
DEFS_plan/lookup  := -DABBA_SOURCE_DIR='"$(TOP)"' \
                     -DABBA_SHARE_DIR='"$(PREFIX)/share/abba"'

# ---- targets ---------------------------------------------------------------------------------
.PHONY: all help setup demo run-demo test run-tests test-programs test-pmu test-netem run-test-netem asan lint format tidy layers headers coverage \
        fuzz run-fuzz bench run-bench install deb test-deb dist clean s3 seaweedfs FORCE
.DEFAULT_GOAL := all

all: $(LIB) $(if $(MAIN_SRC),$(ABBA)) runners $(PRELOADS) ## the program and the runners' programs

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	    awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: ## install what building and testing need (one apt-get install, or nothing)
	@tests/setup.sh test

# Without a -j of the caller's, as many jobs as there are processors.
SUBMAKE = $(MAKE) $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))

# Each of these starts make anew after the set-up: what it has just installed is seen then.
demo: ## set up, build, and compare two real variants
	@tests/setup.sh demo
	@+$(SUBMAKE) all
	@+$(MAKE) run-demo

test-pmu: all ## hardware counters on an emulated arm64 machine (minutes; fetches Debian's arm64 kernel)
	@ABBA='$(abspath $(ABBA))' ABBA_BUILD='$(ABSBUILD)' tests/pmu/boot.sh

# A test program that does not build is one failure among the others, not the end of the run.
build_and_run_tests = +built=1; $(SUBMAKE) $(1) -k test-programs || built=0; TESTS_BUILT=$$built $(MAKE) $(1) run-tests

test: ## set up, build, run all tests; T=unit/json or T=cli/compare for some
	@tests/setup.sh test
	@$(call build_and_run_tests)

asan: ## the tests with AddressSanitizer and UBSan, but for cases of the tag "figures"; T= as above
	@tests/setup.sh test
	@$(call build_and_run_tests,KIND=asan)

# Without a T also what no test runs, so that it does not rot: benchmarks and fuzzers.
test-programs: all $(if $(filter cli cli/%,$(T)),,$(if $(filter unit/%,$(T)),$(T:unit/%=$(OBJ)/tests/test_%),$(UNIT))) $(COST) \
    $(if $(T),,$(BENCH) $(FUZZ_SRC:tests/fuzz/%.c=$(OBJ)/fuzz/%.o))

run-tests:
	@ABBA='$(abspath $(ABBA))' ABBA_BUILD='$(ABSBUILD)' ABBA_KIND=$(KIND) tests/run.sh '$(T)'

# A stamp's text changes when the commands do: another compiler or flag rebuilds what it touches.
define stamp
@mkdir -p $(@D)
@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
endef
$(OBJ)/.flags: FORCE
	$(if $(MISSING),$(error missing libraries: $(MISSING) (pkg-config names); `make setup` installs them))
	$(call stamp,$(KIND_CC) $(ALL_CFLAGS) $(ALL_LD) $(LIBS))
$(OBJ)/.sources: FORCE
	$(call stamp,$(LIB_SRC))
$(OBJ)/.version: FORCE
	$(call stamp,$(DEFS_base/version))
$(OBJ)/.paths: FORCE
	$(call stamp,$(DEFS_plan/lookup))
$(BUILD)/.plain: FORCE
	$(call stamp,$(CC) $(PLAIN) $(ZYGOTE_SRC))

# ---- library and program -----------------------------------------------------------------------
$(OBJ)/base/version.o: $(OBJ)/.version
$(OBJ)/plan/lookup.o: $(OBJ)/.paths

$(OBJ)/%.o: src/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(KIND_CC) $(ALL_CFLAGS) $(DEFS_$*) $(DEPS) -c -o $@ $<

$(OBJ)/run/zygote_image.o: src/run/zygote_image.S $(ZYGOTE) $(OBJ)/.flags
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -DZYGOTE_IMAGE='"$(ZYGOTE)"' -c -o $@ $<

# `q` and not `r`: two rooms may have a file of the same name.
$(LIB): $(LIB_OBJ) $(OBJ)/.sources
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) qcs $@ $(LIB_OBJ)

$(ABBA): $(OBJ)/main.o $(LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(KIND_CC) $(ALL_LD) -o $@ $^ $(LIBS)

# ---- zygote: static, none of our libraries -------------------------------------------------------
ZYGOTE_OBJ := $(ZYGOTE_SRC:src/zygote/%.c=$(BUILD)/zygote/%.o)
$(BUILD)/zygote/%.o: src/zygote/%.c $(BUILD)/.plain
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) $(DEPS) -c -o $@ $<
$(ZYGOTE): $(ZYGOTE_OBJ)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -static -Wl,-S -o $@ $^

# ---- libraries to preload -------------------------------------------------------------------------
$(BUILD)/libabba-%.so: src/preload/%.c $(BUILD)/.plain
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) $(DEPS) -MF $@.d -fPIC -shared -fvisibility=hidden -o $@ $< -ldl

# ---- runners: runners/NAME/*.c make $(BUILD)/runners/NAME/NAME ----------------------------------
# runners/NAME/build.mk may set RUNNER_PC_NAME (pkg-config modules; without them the runner is left
# out, with a note), RUNNER_CFLAGS_NAME and RUNNER_LIBS_NAME. runners/common is linked to each. Runners
# that need what a build of abba does not, and that `make runners-rtc` alone builds, add their programs
# to RTC_PROGRAMS, those in C also their names to RUNNERS_APART; those in Rust only their names to
# RUNNERS_RUST.
RUNNERS := $(filter-out common,$(sort $(patsubst runners/%/,%,$(dir $(wildcard runners/*/*.c)))))
RUNNERS_COMMON := $(patsubst %.c,$(BUILD)/%.o,$(wildcard runners/common/*.c))
-include $(wildcard runners/*/build.mk)
RUNNERS_LEFT_OUT := $(foreach r,$(RUNNERS),$(if $(RUNNER_PC_$(r)),$(shell \
                      pkg-config --exists $(RUNNER_PC_$(r)) 2>/dev/null || echo $(r))))
RUNNER_PROGRAMS := $(foreach r,$(filter-out $(RUNNERS_LEFT_OUT) $(RUNNERS_APART),$(RUNNERS)),$(BUILD)/runners/$(r)/$(r))

# left_out RUNNER WHY: one note; of a harness that was asked for by name it is a failure as well.
left_out = echo "note: runner '$(1)' left out: $(2)"$(if $(RTC_ASKED),; exit 2)
.PHONY: runners $(RUNNERS_LEFT_OUT:%=without-%)
runners: $(RUNNER_PROGRAMS) $(patsubst %,without-%,$(filter-out $(RUNNERS_APART),$(RUNNERS_LEFT_OUT))) ## the runners' programs alone
$(RUNNERS_LEFT_OUT:%=without-%): without-%:
	@$(call left_out,$*,pkg-config finds no $(RUNNER_PC_$*))

# with_tool TOOL RUNNER COMMAND: where the machine lacks the tool the runner is left out.
with_tool = if command -v $(1) >/dev/null; then $(3); else $(call left_out,$(2),there is no $(1) here); fi

# with_version NAME LEAST COMMAND RUNNER COMMAND: where the first command tells of an older version.
with_version = if printf '%s\n' $(2) "$$($(3) | sed 's/[^0-9]*//')" | sort -CV; then $(5); \
               else $(call left_out,$(4),it needs $(1) $(2) and here is $$($(3))); fi

# Runners in Rust are members of one workspace. Cargo builds all of them at once, so that what they share
# is compiled once, and the same way for each; a program's turn then only takes it from there.
RUST_LEAST = $(shell sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' runners/Cargo.toml)
RUST_PROGRAMS := $(foreach r,$(RUNNERS_RUST),$(BUILD)/runners/$(r)/$(r))
RTC_PROGRAMS += $(RUST_PROGRAMS)
RUST_SRC := runners/Cargo.toml runners/Cargo.lock \
            $(wildcard $(foreach r,common/rust $(RUNNERS_RUST),runners/$(r)/Cargo.toml runners/$(r)/src/*.rs))
rust_runner = cargo build --release --locked --quiet --manifest-path runners/Cargo.toml --target-dir $(BUILD)/cargo && \
              $(INSTALL) -D $(BUILD)/cargo/release/$(1) $(2)
$(RUST_PROGRAMS): $(RUST_SRC)
	$(call say,CARGO,$@)
	$(Q)$(call with_tool,cargo,$(@F),$(call with_version,Rust,$(RUST_LEAST),rustc --version,$(@F),$(call rust_runner,$(@F),$@)))

# node_runner RUNNER FOLDER: its script with what runners share, and its pinned packages beside it.
node_runner = mkdir -p $(2)/node && cp runners/$(1)/package.json runners/$(1)/package-lock.json $(2) && \
              cp runners/common/node/*.mjs $(2)/node && \
              npm install --prefix $(2) --no-save --no-audit --no-fund --loglevel=error >&2 && \
              $(INSTALL) -m 755 runners/$(1)/$(1).mjs $(2)/$(1)

# A harness's build.mk names its toolchain in RUNNER_SETUP_NAME, a word of tests/setup.sh. What cannot be
# installed leaves out the harnesses that need it, and no other.
RTC_NAMES := $(notdir $(RTC_PROGRAMS))
RTC_WANTED := $(or $(RTC_ASKED),$(RTC_NAMES))
.PHONY: runners-rtc build-runners-rtc
runners-rtc: ## the harnesses of data channels, T="pion usrsctp" for some; fetches their pinned packages
	@unknown='$(filter-out $(RTC_NAMES),$(T))'; [ -z "$$unknown" ] || \
	    { echo "no such harness: $$unknown; there are: $(RTC_NAMES)" >&2; exit 2; }
	@for needs in $(sort $(foreach r,$(or $(T),$(RTC_NAMES)),$(or $(RUNNER_SETUP_$(r)),rtc))); do \
	    tests/setup.sh $$needs || :; done
	@+$(SUBMAKE) -k RTC_ASKED='$(T)' build-runners-rtc
build-runners-rtc: $(foreach r,$(RTC_WANTED),$(if $(filter $(r),$(RUNNERS_LEFT_OUT)),without-$(r),$(filter %/$(r),$(RTC_PROGRAMS))))

$(BUILD)/runners/common/%.o: runners/common/%.c $(BUILD)/.plain
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) $(DEPS) -c -o $@ $<

define runner
$(BUILD)/runners/$(1)/%.o: runners/$(1)/%.c $(BUILD)/.plain
	$$(call say,CC,$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(PLAIN) $$(RUNNER_CFLAGS_$(1)) $$(if $$(RUNNER_PC_$(1)),$$$$(pkg-config --cflags $$(RUNNER_PC_$(1)))) \
	    $$(DEPS) -c -o $$@ $$<
$(BUILD)/runners/$(1)/$(1): $$(patsubst %.c,$(BUILD)/%.o,$$(wildcard runners/$(1)/*.c)) $(RUNNERS_COMMON)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) -Wl,--as-needed -o $$@ $$^ $$(if $$(RUNNER_PC_$(1)),$$$$(pkg-config --libs $$(RUNNER_PC_$(1)))) \
	    $$(RUNNER_LIBS_$(1)) -lm
endef
$(foreach r,$(RUNNERS),$(eval $(call runner,$(r))))

# ---- programs of the tests -----------------------------------------------------------------------
$(OBJ)/tests/%.o: tests/unit/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(KIND_CC) $(ALL_CFLAGS) -Wno-missing-prototypes -Itests/unit $(DEPS) -c -o $@ $<
$(UNIT): %: %.o $(UNIT_HELP:tests/unit/%.c=$(OBJ)/tests/%.o) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(KIND_CC) $(ALL_LD) -o $@ $^ $(LIBS) $(CMOCKA)

# Of known cost: static, one file each, so that their own footprint is small.
$(BUILD)/cost/%: tests/cost/%.c $(BUILD)/.plain
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) $(DEPS) -static -pthread -o $@ $< -lm

# Those that a library is preloaded to are dynamic, and so is the library that they load themselves.
$(BUILD)/cost/preload/%: tests/cost/preload/%.c $(BUILD)/.plain
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) $(DEPS) -fno-builtin $(if $(filter plugin,$*),-shared -fPIC) -pthread -o $@ $< -ldl

$(OBJ)/bench/%.o: tests/bench/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(KIND_CC) $(ALL_CFLAGS) -Wno-missing-prototypes $(DEPS) -c -o $@ $<
$(BENCH): %: %.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(KIND_CC) $(ALL_LD) -o $@ $^ $(LIBS)

$(OBJ)/fuzz/%.o: tests/fuzz/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(KIND_CC) $(ALL_CFLAGS) -Wno-missing-prototypes $(DEPS) -c -o $@ $<
$(FUZZ): %: %.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(KIND_CC) -fsanitize=fuzzer $(ALL_LD) -o $@ $^ $(LIBS)

# The first process of the machines that tests/netem/run.sh starts.
NETEM_GUEST := $(OBJ)/netem/guest
$(OBJ)/netem/%.o: tests/netem/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(KIND_CC) $(ALL_CFLAGS) -Itests/netem $(DEPS) -c -o $@ $<
$(NETEM_GUEST): $(NETEM_SRC:tests/netem/%.c=$(OBJ)/netem/%.o) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(KIND_CC) $(ALL_LD) -o $@ $^ $(LIBS)

test-netem: ## fate and the kernel back end against real kernels' netem (qemu, user-mode-linux)
	@tests/setup.sh netem
	@+$(SUBMAKE) run-test-netem
run-test-netem: $(NETEM_GUEST) all
	@tests/netem/run.sh '$(abspath $(NETEM_GUEST))' '$(abspath $(ABBA))' '$(ABSBUILD)'

S3_SRC := $(wildcard tests/servers/s3/*)
s3: ## an S3 store that checks signatures, for tests/cli/s3.bats (Go, a minute of CPU time)
	@if command -v go >/dev/null; then $(SUBMAKE) $(BUILD)/servers/s3; \
	 else echo "note: no S3 store: there is no go here"; fi
$(BUILD)/servers/s3: $(S3_SRC)
	$(call say,GO,$@)
	@mkdir -p $(@D)
	$(Q)cd tests/servers/s3 && GOFLAGS=-mod=readonly go build -trimpath -ldflags '-s -w' -o $(abspath $@) .

seaweedfs: ## another S3 store for the tests that take one where it is there (Go, many minutes)
	@tests/servers/seaweedfs.sh $(BUILD)/servers/weed

# ---- checks that run nothing ---------------------------------------------------------------------
layers: ## prove which room includes which
	@tests/layers.sh

headers: $(HDR:src/%=$(BUILD)/headers/%.o) ## compile each header alone
	@echo "headers: $(words $(HDR)) compile alone"
# Twice, so that a missing guard shows as well.
$(BUILD)/headers/%.h.o: src/%.h $(BUILD)/.plain
	@mkdir -p $(@D)
	$(Q)printf '#include "%s"\n#include "%s"\n' $*.h $*.h | $(CC) $(PLAIN) $(DEPS) -x c -c -o $@ -

lint: ## clang-format, shellcheck, banned words, clang-tidy
	@tests/setup.sh lint
	@+status=0; tests/lint.sh || status=1; $(SUBMAKE) -k tidy || status=1; exit $$status

format: ## lay out all C files by clang-format
	clang-format -i $(wildcard src/*.c src/*/*.[ch] runners/*/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch])

# A source is looked at again when its object is newer, that is when one of its headers changed too.
# The bound keeps the analyzer to a few seconds a file; its default takes four times as long.
TIDY_BOUND := -Xclang -analyzer-config -Xclang max-nodes=50000
TIDY_SRC := $(filter %.c,$(LIB_SRC) $(MAIN_SRC))
tidy: $(TIDY_SRC:src/%.c=$(OBJ)/tidy/%.ok)
	@echo "tidy: $(words $(TIDY_SRC)) sources clean"
$(OBJ)/tidy/%.ok: $(OBJ)/%.o .clang-tidy tests/analyze.h
	$(call say,TIDY,src/$*.c)
	@mkdir -p $(@D)
	$(Q)clang-tidy --quiet $(TIDY_BOUND:%=--extra-arg=%) src/$*.c -- $(STD) $(PC_CFLAGS) $(DEFS_$*) \
	    $(if $(filter base/err,$*),,-include tests/analyze.h) >$@.out 2>&1 || \
	    { grep -A 2 ' error: ' $@.out; echo "  the paths to it: $@.out"; exit 1; }
	@touch $@

# ---- coverage, fuzzing, benchmarks -----------------------------------------------------------------
coverage: ## lines that the tests reach, room by room
	@tests/setup.sh test
	@find $(BUILD) -path '$(BUILD)/coverage/*' -name '*.gcda' -delete
	@-$(call build_and_run_tests,KIND=coverage)
	@tests/coverage.sh $(BUILD)/coverage

FUZZ_SECONDS ?= 20
fuzz: ## each tests/fuzz program for FUZZ_SECONDS (20) under libFuzzer
	@tests/setup.sh fuzz
	@+$(SUBMAKE) KIND=fuzz run-fuzz
run-fuzz: $(FUZZ)
	@for f in $(FUZZ); do \
	    name=$${f##*/fuzz_}; corpus=$(BUILD)/fuzz/corpus/$$name; mkdir -p $$corpus; \
	    echo "fuzz: $$name, $(FUZZ_SECONDS) s"; \
	    $$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	        -artifact_prefix=$(BUILD)/fuzz/$$name- $$corpus $$(find tests/fuzz/corpus/$$name -maxdepth 0 2>/dev/null) \
	        >$(BUILD)/fuzz/$$name.log 2>&1 || { tail -40 $(BUILD)/fuzz/$$name.log; exit 1; }; \
	    grep -E '^stat::number_of_executed_units|^Done' $(BUILD)/fuzz/$$name.log; \
	done

bench: ## tests/bench, which print ratios; T=harness for one
	@tests/setup.sh bench
	@+$(SUBMAKE) all
	@+$(MAKE) run-bench
# Scripts, and the programs that run by themselves.
BENCH_HELPERS := bare_loop judge sampler_cost used write_cost shaper_cost heap_load
BENCH_RUN := $(wildcard tests/bench/*.sh) $(filter-out $(BENCH_HELPERS:%=$(OBJ)/bench/%),$(BENCH))
run-bench: $(BENCH) $(COST)
	@for b in $(if $(T),$(filter %/$(T).sh %/$(T),$(BENCH_RUN)),$(BENCH_RUN)); do \
	    echo "== $$b"; \
	    ABBA='$(abspath $(ABBA))' ABBA_BUILD='$(ABSBUILD)' ABBA_SOURCE='$(TOP)' \
	        BENCH='$(abspath $(OBJ))/bench' $$b || exit 1; \
	done

# ---- the demo ----------------------------------------------------------------------------------------
# Two ways of one program to move datagrams: one system call each, or many with one. Whatever the
# verdict, the demo has done its work; only a fault of the measurement fails it.
DEMO := run flow/10x-1K flow/pingpong --baseline single --candidate batch
run-demo:
	@echo 'abba $(DEMO)'; $(ABBA) $(DEMO); status=$$?; \
	case $$status in 0|1|4) ;; *) exit $$status ;; esac; \
	echo "(exit status $$status: $$(case $$status in \
	    0) echo passed ;; 1) echo regressed ;; 4) echo inconclusive ;; esac))"

# ---- delivery -----------------------------------------------------------------------------------------
INSTALL ?= install
share   := $(DESTDIR)$(PREFIX)/share/abba
mandir  := $(DESTDIR)$(PREFIX)/share/man/man1
compdir := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
docdir  := $(DESTDIR)$(PREFIX)/share/doc/abba
install: all ## the program, its data and its manual below DESTDIR and PREFIX
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(share)
	$(INSTALL) -m 755 $(ABBA) $(DESTDIR)$(PREFIX)/bin/abba
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/libexec/abba
	$(INSTALL) -m 755 $(ZYGOTE) $(DESTDIR)$(PREFIX)/libexec/abba/zygote
	$(INSTALL) -m 644 $(PRELOADS) $(DESTDIR)$(PREFIX)/libexec/abba
	@for f in $(wildcard runners/*/*.json runners/*/variants/*.json runners/*/series/*.json profiles/*/*.json thresholds/*.json archive/schema/*); do \
	    to=$(share)/$${f#archive/}; $(INSTALL) -d $${to%/*} && $(INSTALL) -m 644 $$f $$to || exit 1; done
	@for f in $(RUNNER_PROGRAMS:$(BUILD)/%=%); do \
	    to=$(DESTDIR)$(PREFIX)/libexec/abba/$$f; \
	    $(INSTALL) -d $${to%/*} && $(INSTALL) -m 755 $(BUILD)/$$f $$to || exit 1; done
	@$(INSTALL) -d $(mandir) $(compdir)
	$(ABBA) manual >$(OBJ)/abba.1 && $(INSTALL) -m 644 $(OBJ)/abba.1 $(mandir)/abba.1
	$(ABBA) completion bash >$(OBJ)/abba.bash && $(INSTALL) -m 644 $(OBJ)/abba.bash $(compdir)/abba

	$(INSTALL) -d $(docdir)/examples/ci/github $(docdir)/examples/ci/gitlab
	$(INSTALL) -m 644 README.md CHANGELOG.md $(docdir)
	$(INSTALL) -m 755 .ci/examples/gate.sh $(docdir)/examples/ci
	$(INSTALL) -m 644 .ci/examples/github/*.yml $(docdir)/examples/ci/github
	$(INSTALL) -m 644 .ci/examples/gitlab/*.yml $(docdir)/examples/ci/gitlab

# A build of its own: paths, flags and no word of where it was built.
DEB := $(BUILD)/deb
DEB_FLAGS = $(shell dpkg-buildflags --get CFLAGS) $(shell dpkg-buildflags --get CPPFLAGS)
DEB_MAKE = $(SUBMAKE) BUILD='$(DEB)' KIND=release WERROR=0 TOP=/nonexistent CFLAGS='$(DEB_FLAGS)' \
           LDFLAGS='$(shell dpkg-buildflags --get LDFLAGS) -Wl,-z,now'
deb: ## a Debian package, in the build folder's deb/
	@tests/setup.sh deb
	@mkdir -p $(BUILD)
	@rm -rf $(DEB)/root $(DEB)/*.deb
	@+$(DEB_MAKE) install PREFIX=/usr DESTDIR='$(abspath $(DEB))/root' >$(BUILD)/deb.log 2>&1 || \
	    { tail -n 30 $(BUILD)/deb.log; exit 1; }
	@packaging/deb.sh '$(abspath $(DEB))' '$(VERSION)'

test-deb: deb ## the package by lintian, unpacked elsewhere, and an installation below a prefix
	@rm -rf $(DEB)/prefix
	@+$(DEB_MAKE) install PREFIX='$(abspath $(DEB))/prefix' >$(BUILD)/deb.log 2>&1 || \
	    { tail -n 30 $(BUILD)/deb.log; exit 1; }
	@tests/deb/check.sh $(abspath $(DEB))/*.deb '$(abspath $(DEB))/prefix' '$(TOP)'

dist: ## a source tarball in the build folder, with its version in a VERSION file
	@mkdir -p $(BUILD)
	@echo '$(VERSION)' >$(BUILD)/VERSION
	git archive --format=tar.gz --prefix=abba-$(VERSION)/ --add-file=$(BUILD)/VERSION \
	    -o $(BUILD)/abba-$(VERSION).tar.gz HEAD

clean: ## remove the build folder
	rm -rf $(BUILD)

-include $(wildcard $(OBJ)/*.d $(OBJ)/*/*.d $(BUILD)/zygote/*.d $(BUILD)/runners/*/*.d $(BUILD)/cost/*.d $(BUILD)/cost/preload/*.d \
           $(BUILD)/headers/*/*.d)
