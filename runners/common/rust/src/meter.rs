//! Wall and CPU time of this process with all of its threads, and the lines that tell results.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

static BIRTH: OnceLock<Instant> = OnceLock::new();

/// To be called first: wall time counts from here.
pub fn birth() {
    BIRTH.get_or_init(Instant::now);
}

pub fn since_birth() -> Duration {
    BIRTH.get_or_init(Instant::now).elapsed()
}

pub fn cpu_time() -> Duration {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a timespec of ours; the clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// A window in which a preloaded library counts what the heap is asked for.
pub struct HeapWindow(());

impl HeapWindow {
    pub fn open() -> HeapWindow {
        look_for(c"/abba/window/begin");
        HeapWindow(())
    }
}

impl Drop for HeapWindow {
    fn drop(&mut self) {
        look_for(c"/abba/window/end");
    }
}

/// By access(2), which the library sees. There is no such file; looking for it is all.
fn look_for(path: &std::ffi::CStr) {
    // SAFETY: the path ends in a null byte.
    unsafe { libc::access(path.as_ptr(), libc::F_OK) };
}

/// A repeat, or a phase; messages and bytes are what arrived.
pub struct Outcome {
    pub repeat: u64,
    pub messages: u64,
    pub sent: u64,
    pub lost: u64,
    pub bytes: u64,
    pub elapsed: Duration,
    pub cpu: Duration,
}

fn per(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

impl Outcome {
    pub fn line(&self) -> String {
        let (seconds, cpu) = (self.elapsed.as_secs_f64(), self.cpu.as_secs_f64());
        let messages = self.messages as f64;
        format!(
            "result repeat={} messages={} sent={} lost={} bytes={} seconds={seconds:.6} \
             messages_per_second={:.1} cpu_seconds={cpu:.6} effective_cores={:.6} \
             cpu_us_per_message={:.3}",
            self.repeat,
            self.messages,
            self.sent,
            self.lost,
            self.bytes,
            per(messages, seconds),
            per(cpu, seconds),
            per(cpu * 1e6, messages),
        )
    }

    /// In units of 10^6 bits.
    pub fn megabits_per_second(&self) -> f64 {
        per(self.bytes as f64 * 8.0 / 1e6, self.elapsed.as_secs_f64())
    }
}

pub fn total_line() -> String {
    format!(
        "total wall={:.6} cpu={:.6}",
        since_birth().as_secs_f64(),
        cpu_time().as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_without_arrivals_has_no_rates() {
        let none = Outcome {
            repeat: 1,
            messages: 0,
            sent: 5,
            lost: 5,
            bytes: 0,
            elapsed: Duration::ZERO,
            cpu: Duration::from_millis(2),
        };
        assert_eq!(
            none.line(),
            "result repeat=1 messages=0 sent=5 lost=5 bytes=0 seconds=0.000000 \
             messages_per_second=0.0 cpu_seconds=0.002000 effective_cores=0.000000 \
             cpu_us_per_message=0.000"
        );
    }

    #[test]
    fn the_units_are_true_ones() {
        let second = Outcome {
            repeat: 1,
            messages: 1,
            sent: 1,
            lost: 0,
            bytes: 1_000_000,
            elapsed: Duration::from_secs(1),
            cpu: Duration::ZERO,
        };
        assert_eq!(second.megabits_per_second(), 8.0);
    }
}
