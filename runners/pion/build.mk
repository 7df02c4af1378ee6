RTC_PROGRAMS += $(BUILD)/runners/pion/pion
$(BUILD)/runners/pion/pion: $(wildcard runners/pion/*.go) runners/pion/go.mod runners/pion/go.sum
	$(call say,GO,$@)
	@mkdir -p $(@D)
	$(Q)$(call with_tool,go,pion,cd runners/pion && GOFLAGS=-mod=readonly go build -trimpath -o $(abspath $@) .)
