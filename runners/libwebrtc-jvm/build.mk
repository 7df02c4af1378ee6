# A JDK and Maven are installed only for who asks for this harness by name.
RUNNER_SETUP_libwebrtc-jvm := $(if $(T)$(shell command -v javac >/dev/null && command -v mvn),rtc-jvm,build)
RTC_PROGRAMS += $(BUILD)/runners/libwebrtc-jvm/libwebrtc-jvm
# Fetched jars must be known; then what was fetched is compiled against.
JVM_RUNNER := runners/libwebrtc-jvm
JVM_BUILD = rm -rf $(@D)/jars $(@D)/classes $(@D)/native && mkdir -p $(@D)/native && \
            mvn -q -B -Dstyle.color=never -f $(JVM_RUNNER)/pom.xml dependency:copy-dependencies -DoutputDirectory=$(abspath $(@D))/jars && \
            { ! (cd $(@D)/jars && sha256sum -- *.jar) | grep -vxFf $(JVM_RUNNER)/jars.sha256 || \
              { echo "runner 'libwebrtc-jvm': these jars are not those of jars.sha256" >&2; exit 1; }; } && \
            (cd $(@D)/native && jar xf ../jars/webrtc-java-*-linux-*.jar && mv libwebrtc-java-*.so libwebrtc-java.so) && \
            javac --release 17 -Xlint:all -d $(@D)/classes -cp '$(@D)/jars/*' $(JVM_RUNNER)/*.java && \
            $(INSTALL) -m 755 $(JVM_RUNNER)/libwebrtc-jvm.sh $@
$(BUILD)/runners/libwebrtc-jvm/libwebrtc-jvm: $(wildcard $(JVM_RUNNER)/*.java $(JVM_RUNNER)/*.sh) $(JVM_RUNNER)/pom.xml $(JVM_RUNNER)/jars.sha256
	$(call say,JVM,$@)
	@mkdir -p $(@D)
	$(Q)$(call with_tool,javac,libwebrtc-jvm,$(call with_tool,mvn,libwebrtc-jvm,$(JVM_BUILD)))
