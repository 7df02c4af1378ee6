RUNNER_SETUP_webrtc-rs := rtc-rust
RUNNERS_RUST += webrtc-rs
