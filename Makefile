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
LIB_SRC    := $(filter-out src/zygote/%,$(wildcard src/*/*.c)) $(if $(ZYGOTE_SRC),src/run/zygote_image.S)
MAIN_SRC   := $(wildcard src/main.c)
UNIT_SRC   := $(wildcard tests/unit/test_*.c)
UNIT_HELP  := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
COST_SRC   := $(wildcard tests/cost/*.c)
BENCH_SRC  := $(wildcard tests/bench/*.c)
FUZZ_SRC   := $(wildcard tests/fuzz/fuzz_*.c)

LIB     := $(OBJ)/libabba.a
ABBA    := $(if $(filter release,$(KIND)),$(BUILD)/abba,$(OBJ)/abba)
ZYGOTE  := $(BUILD)/release/zygote
LIB_OBJ := $(patsubst src/%,$(OBJ)/%.o,$(basename $(LIB_SRC)))
UNIT    := $(UNIT_SRC:tests/unit/%.c=$(OBJ)/tests/%)
COST    := $(COST_SRC:tests/cost/%.c=$(BUILD)/cost/%)
BENCH   := $(BENCH_SRC:tests/bench/%.c=$(OBJ)/bench/%)
FUZZ    := $(FUZZ_SRC:tests/fuzz/%.c=$(OBJ)/fuzz/%)

# ---- libraries: by pkg-config's names, and only those that the sources include ---------------
INCLUDED := $(shell grep -hoE '^ *\# *include *<[^>]+>' $(wildcard src/*/*.c) /dev/null | sed 's/.*<//;s/>//' | sort -u)
PC := $(if $(filter pcre2.h,$(INCLUDED)),libpcre2-8) \
      $(if $(filter cJSON.h cjson/%,$(INCLUDED)),libcjson) \
      $(if $(filter openssl/%,$(INCLUDED)),libcrypto) \
      $(if $(filter curl/%,$(INCLUDED)),libcurl) \
      $(if $(filter libmnl/%,$(INCLUDED)),libmnl) \
      $(if $(filter archive.h archive_entry.h,$(INCLUDED)),libarchive)
PC := $(strip $(PC))
MISSING   := $(shell for m in $(PC); do pkg-config --exists $$m 2>/dev/null || echo $$m; done)
PC_CFLAGS := $(if $(PC),$(shell pkg-config --cflags $(PC) 2>/dev/null))
LIBS      := $(if $(PC),$(shell pkg-config --libs $(PC) 2>/dev/null)) \
             $(if $(filter perfmon/%,$(INCLUDED)),-lpfm) -lm
CMOCKA     = $(shell pkg-config --cflags --libs cmocka 2>/dev/null)

# ---- flags -----------------------------------------------------------------------------------
STD   := -std=gnu11 -D_GNU_SOURCE -ffp-contract=off -Isrc
WARN  := -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes \
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
ALL_CFLAGS := $(PLAIN) $(KIND_FLAGS) $(PC_CFLAGS) $(CPPFLAGS)
ALL_LD     := $(KIND_FLAGS) -Wl,--as-needed $(LDFLAGS)
DEPS        = -MMD -MP -MF $(@:.o=).d -MT $@

# The version, and where the data lies: known to one file each.
VERSION := $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null || \
             { h=$$(git describe --always --dirty --exclude '*' 2>/dev/null) && echo "0.0.0+g$$h"; } || \
             cat VERSION 2>/dev/null || echo 0.0.0)
VERSION := $(patsubst v%,%,$(VERSION))
DEFS_base/version := -DABBA_VERSION='"$(VERSION)"'
DEFS_plan/lookup  := -DABBA_SOURCE_DIR='"$(TOP)"' -DABBA_SHARE_DIR='"$(PREFIX)/share/abba"'

# ---- targets ---------------------------------------------------------------------------------
.PHONY: all help setup demo run-demo test run-tests test-programs asan lint tidy layers headers coverage fuzz \
        run-fuzz bench install dist clean FORCE
.DEFAULT_GOAL := all

all: $(LIB) $(if $(MAIN_SRC),$(ABBA)) runners ## the program and the runners' programs

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	    awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: ## install what building and testing need (one apt-get install, or nothing)
	@tests/setup.sh test

# Each of these starts make anew after the set-up: what it has just installed is seen then.
demo: ## set up, build, and compare two real variants
	@tests/setup.sh demo
	@+$(MAKE) all
	@+$(MAKE) run-demo

test: ## set up, build, run all tests; T=unit/json or T=cli/compare for some
	@tests/setup.sh test
	@+$(MAKE) test-programs
	@+$(MAKE) run-tests

asan: ## the tests with AddressSanitizer and UBSan; T= as above
	@tests/setup.sh test
	@+$(MAKE) KIND=asan test-programs
	@+$(MAKE) KIND=asan run-tests

test-programs: all $(if $(filter cli cli/%,$(T)),,$(if $(filter unit/%,$(T)),$(T:unit/%=$(OBJ)/tests/test_%),$(UNIT))) $(COST)

run-tests:
	@ABBA=$(abspath $(ABBA)) ABBA_BUILD=$(ABSBUILD) ABBA_KIND=$(KIND) tests/run.sh '$(T)'

# A stamp's text changes when the commands do: another compiler or flag rebuilds what it touches.
define stamp
@mkdir -p $(@D)
@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
endef
$(OBJ)/.flags: FORCE
	$(if $(MISSING),$(error missing libraries: $(MISSING) (pkg-config names); `make setup` installs them))
	$(call stamp,$(CC) $(ALL_CFLAGS) $(ALL_LD) $(LIBS))
$(OBJ)/.sources: FORCE
	$(call stamp,$(LIB_SRC))
$(OBJ)/.version: FORCE
	$(call stamp,$(DEFS_base/version))
$(OBJ)/.paths: FORCE
	$(call stamp,$(DEFS_plan/lookup))
$(BUILD)/.plain: FORCE
	$(call stamp,$(CC) $(PLAIN))

# ---- library and program -----------------------------------------------------------------------
$(OBJ)/base/version.o: $(OBJ)/.version
$(OBJ)/plan/lookup.o: $(OBJ)/.paths

$(OBJ)/%.o: src/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(DEFS_$*) $(DEPS) -c -o $@ $<

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
	$(Q)$(CC) $(ALL_LD) -o $@ $^ $(LIBS)

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

# ---- runners: runners/NAME/*.c make $(BUILD)/runners/NAME/NAME ----------------------------------
# runners/NAME/build.mk may set RUNNER_PC_NAME (pkg-config modules; without them the runner is left
# out, with a note), RUNNER_CFLAGS_NAME and RUNNER_LIBS_NAME.
RUNNERS := $(sort $(patsubst runners/%/,%,$(dir $(wildcard runners/*/*.c))))
-include $(wildcard runners/*/build.mk)
RUNNERS_LEFT_OUT := $(foreach r,$(RUNNERS),$(if $(RUNNER_PC_$(r)),$(shell \
                      pkg-config --exists $(RUNNER_PC_$(r)) 2>/dev/null || echo $(r))))
RUNNER_PROGRAMS := $(foreach r,$(filter-out $(RUNNERS_LEFT_OUT),$(RUNNERS)),$(BUILD)/runners/$(r)/$(r))

.PHONY: runners
runners: $(RUNNER_PROGRAMS) ## the runners' programs alone
	$(foreach r,$(RUNNERS_LEFT_OUT),@echo "note: runner '$(r)' left out: pkg-config finds no $(RUNNER_PC_$(r))")

define runner
$(BUILD)/runners/$(1)/%.o: runners/$(1)/%.c $(BUILD)/.plain
	$$(call say,CC,$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(PLAIN) $$(RUNNER_CFLAGS_$(1)) $$(if $$(RUNNER_PC_$(1)),$$$$(pkg-config --cflags $$(RUNNER_PC_$(1)))) \
	    $$(DEPS) -c -o $$@ $$<
$(BUILD)/runners/$(1)/$(1): $$(patsubst %.c,$(BUILD)/%.o,$$(wildcard runners/$(1)/*.c))
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) -Wl,--as-needed -o $$@ $$^ $$(if $$(RUNNER_PC_$(1)),$$$$(pkg-config --libs $$(RUNNER_PC_$(1)))) \
	    $$(RUNNER_LIBS_$(1)) -lm
endef
$(foreach r,$(RUNNERS),$(eval $(call runner,$(r))))

# ---- programs of the tests -----------------------------------------------------------------------
$(OBJ)/tests/%.o: tests/unit/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -Itests/unit $(DEPS) -c -o $@ $<
$(UNIT): %: %.o $(UNIT_HELP:tests/unit/%.c=$(OBJ)/tests/%.o) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LD) -o $@ $^ $(LIBS) $(CMOCKA)

# Of known cost: static, one file each, so that their own footprint is small.
$(BUILD)/cost/%: tests/cost/%.c $(BUILD)/.plain
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) $(DEPS) -static -pthread -o $@ $< -lm

$(OBJ)/bench/%.o: tests/bench/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes $(DEPS) -c -o $@ $<
$(BENCH): %: %.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LD) -o $@ $^ $(LIBS)

$(OBJ)/fuzz/%.o: tests/fuzz/%.c $(OBJ)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes $(DEPS) -c -o $@ $<
$(FUZZ): %: %.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) -fsanitize=fuzzer $(ALL_LD) -o $@ $^ $(LIBS)

clean: ## remove the build folder
	rm -rf $(BUILD)

-include $(wildcard $(OBJ)/*.d $(OBJ)/*/*.d $(BUILD)/zygote/*.d $(BUILD)/runners/*/*.d $(BUILD)/cost/*.d)
