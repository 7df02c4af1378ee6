RUNNERS_APART += usrsctp
RUNNER_PC_usrsctp := usrsctp
RUNNER_CFLAGS_usrsctp = -DUSRSCTP_VERSION='"$(shell pkg-config --modversion usrsctp)"'
RUNNER_LIBS_usrsctp := -lpthread
RUNNER_SETUP_usrsctp := rtc-c
RTC_PROGRAMS += $(BUILD)/runners/usrsctp/usrsctp
