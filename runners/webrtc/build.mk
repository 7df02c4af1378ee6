RUNNER_SETUP_webrtc := rtc-rust
RUNNERS_RUST += webrtc
