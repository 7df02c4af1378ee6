RUNNER_SETUP_pion := rtc-go
RTC_PROGRAMS += $(BUILD)/runners/pion/pion
PION_GO = $(shell sed -n 's/^go //p' runners/pion/go.mod)
PION_BUILD = cd runners/pion && GOTOOLCHAIN=local GOFLAGS=-mod=readonly go build -trimpath -o $(abspath $@) .
$(BUILD)/runners/pion/pion: $(wildcard runners/pion/*.go) runners/pion/go.mod runners/pion/go.sum
	$(call say,GO,$@)
	@mkdir -p $(@D)
	$(Q)$(call with_tool,go,pion,$(call with_version,Go,$(PION_GO),go env GOVERSION,pion,$(PION_BUILD)))
