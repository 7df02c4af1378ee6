RUNNER_SETUP_rtc := rtc-rust
RUNNERS_RUST += rtc
