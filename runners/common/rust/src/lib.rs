//! What every Rust harness of a data-channel stack does around its stack: options, lines, statuses,
//! and the two shapes in which messages travel. A harness brings a [`Stack`] and calls [`main`].

mod message;
mod meter;
mod options;
mod pair;
mod shape_flow;
mod shape_message;
mod stack;
mod watch;

pub use options::{Delivery, Options, Row};
pub use pair::{End, ends};
pub use stack::{Channel, Events, Failure, Stack};

use options::Request;
use std::io::{self, Write};

const FAILED: u8 = 1;
const USAGE: u8 = 2;
const UNSUPPORTED: u8 = 3;

/// The version that a Cargo.toml pins, as `name = "=1.2.3"` or `name = { version = "=1.2.3", ... }`.
pub fn pinned(manifest: &'static str, name: &str) -> &'static str {
    manifest
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='))
        .find_map(|value| value.split_once("\"=")?.1.split('"').next())
        .expect("the manifest pins the stack")
}

/// The whole program. It does not wait for tasks and threads of the stack that outlive their peers.
pub fn main<S: Stack>(stack: S) -> ! {
    meter::birth();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let status = match options::parse(S::PROGRAM, &arguments, stack.rows()) {
        Ok(Request::Help(text)) => tell(S::PROGRAM, writeln!(io::stdout(), "{text}")),
        Ok(Request::Check(options)) => check(&stack, &options),
        Ok(Request::Run(options)) => run(stack, options),
        Err(problem) => complain(S::PROGRAM, USAGE, &problem),
    };
    std::process::exit(status.into())
}

fn complain(program: &str, status: u8, problem: &dyn std::fmt::Display) -> u8 {
    eprintln!("{program}: {problem}");
    status
}

fn tell(program: &str, written: io::Result<()>) -> u8 {
    match written {
        Ok(()) => 0,
        Err(e) => complain(program, FAILED, &format!("cannot write the result: {e}")),
    }
}

/// Whether the stack can run this load: the answer to a runner's "supports".
fn check<S: Stack>(stack: &S, options: &Options) -> u8 {
    match stack.unsupported(options) {
        None => 0,
        Some(reason) => match tell(S::PROGRAM, writeln!(io::stdout(), "unsupported: {reason}")) {
            0 => UNSUPPORTED,
            failed => failed,
        },
    }
}

fn run<S: Stack>(stack: S, options: Options) -> u8 {
    match check(&stack, &options) {
        0 => {}
        status => return status,
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(e) => return complain(S::PROGRAM, FAILED, &format!("cannot start threads: {e}")),
    };
    let out = &mut io::stdout();
    // The calling thread sends: it may spin without keeping the runtime's threads from their work.
    match runtime.block_on(shape(stack, options, out)) {
        Ok(true) => 0,
        Ok(false) => FAILED,
        Err(e) => complain(S::PROGRAM, FAILED, &e),
    }
}

/// Runs the shape that the options name; whether every message was whole and where it belongs.
async fn shape<S: Stack>(stack: S, options: Options, out: &mut dyn Write) -> Result<bool, Failure> {
    writeln!(out, "stack={} {}", S::PROGRAM, stack.version())?;
    writeln!(out, "delivery={}", options.delivery.name())?;
    writeln!(out, "pacing={}", options.pacing.name())?;
    for row in stack.rows() {
        writeln!(out, "{}={}", row.name, options.word(row.name))?;
    }
    let intact = if options.flow {
        shape_flow::run(&stack, options, out).await
    } else {
        shape_message::run(&stack, options, out).await
    };
    writeln!(out, "{}", meter::total_line())?;
    let whole = matches!(intact, Ok(true));
    writeln!(out, "payload={}", if whole { "intact" } else { "damaged" })?;
    intact
}

#[cfg(test)]
mod tests {
    use super::pinned;

    #[test]
    fn a_pinned_version_is_read_in_both_forms() {
        let manifest = "name = \"x\"\nwebrtc-util = \"=9\"\nwebrtc = { version = \"=0.21.1\", default-features = false }\nrtc = \"=0.3\"\n";
        assert_eq!(pinned(manifest, "webrtc"), "0.21.1");
        assert_eq!(pinned(manifest, "rtc"), "0.3");
    }
}
