RUNNER_SETUP_rustrtc := rtc-rust
RUNNERS_RUST += rustrtc
