RUNNER_SETUP_libdatachannel := rtc-node
RTC_PROGRAMS += $(BUILD)/runners/libdatachannel/libdatachannel
$(BUILD)/runners/libdatachannel/libdatachannel: runners/libdatachannel/libdatachannel.mjs $(wildcard runners/common/node/*.mjs) runners/libdatachannel/package-lock.json
	$(call say,NPM,$@)
	$(Q)$(call with_tool,npm,libdatachannel,$(call node_runner,libdatachannel,$(@D)))
