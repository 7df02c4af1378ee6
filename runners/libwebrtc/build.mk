RUNNER_SETUP_libwebrtc := rtc-node
RTC_PROGRAMS += $(BUILD)/runners/libwebrtc/libwebrtc
$(BUILD)/runners/libwebrtc/libwebrtc: runners/libwebrtc/libwebrtc.mjs $(wildcard runners/common/node/*.mjs) runners/libwebrtc/package-lock.json
	$(call say,NPM,$@)
	$(Q)$(call with_tool,npm,libwebrtc,$(call node_runner,libwebrtc,$(@D)))
