//! The command line, the same for every data-channel harness.

use crate::message;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delivery {
    Ordered,
    Unordered,
    Unreliable,
}

const DELIVERIES: [&str; 3] = ["ordered", "unordered", "unreliable"];

impl Delivery {
    pub fn name(self) -> &'static str {
        DELIVERIES[self as usize]
    }
}

/// What the sender of the message shape does while there is no room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    Spin,
    Yield,
    Wait,
}

const PACINGS: [&str; 3] = ["spin", "yield", "wait"];

impl Pacing {
    pub fn name(self) -> &'static str {
        PACINGS[self as usize]
    }
}

/// What an option takes.
#[derive(Clone, Copy)]
pub enum Takes {
    Integer(u64, u64),
    Seconds,
    Word(&'static [&'static str]),
}

/// An option: its name, what it takes, what it is where it is not given, and its help.
#[derive(Clone, Copy)]
pub struct Row {
    pub name: &'static str,
    pub takes: Takes,
    pub initial: &'static str,
    pub help: &'static str,
}

impl Row {
    /// An option that is one of a few words.
    pub const fn word(
        name: &'static str,
        words: &'static [&'static str],
        initial: &'static str,
        help: &'static str,
    ) -> Row {
        Row {
            name,
            takes: Takes::Word(words),
            initial,
            help,
        }
    }

    const fn integer(
        name: &'static str,
        range: (u64, u64),
        initial: &'static str,
        help: &'static str,
    ) -> Row {
        Row {
            name,
            takes: Takes::Integer(range.0, range.1),
            initial,
            help,
        }
    }

    fn allowed(&self) -> String {
        match self.takes {
            Takes::Integer(least, most) => format!("{least} to {most}"),
            Takes::Seconds => "seconds, up to 86400".into(),
            Takes::Word(words) => words.join(", "),
        }
    }

    fn is_allowed(&self, value: &str) -> bool {
        match self.takes {
            Takes::Integer(least, most) => {
                integer(value).is_some_and(|n| (least..=most).contains(&n))
            }
            Takes::Seconds => seconds(value).is_some_and(|s| s > 0.0 && s <= 86400.0),
            Takes::Word(words) => words.contains(&value),
        }
    }
}

fn only_of(text: &str, allowed: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || allowed.contains(c))
}

fn integer(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| only_of(text, ""))
}

fn seconds(text: &str) -> Option<f64> {
    text.parse().ok().filter(|_| only_of(text, "."))
}

const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const ROWS: [Row; 13] = [
    Row::integer(
        "size",
        (message::LEAST as u64, message::MOST as u64),
        "1000",
        "bytes in a message",
    ),
    Row::word(
        "delivery",
        &DELIVERIES,
        "ordered",
        "ordered, unordered, or unreliable (no retransmission)",
    ),
    Row::integer(
        "in-flight",
        (1, 1_000_000),
        "512",
        "messages that may be under way",
    ),
    Row::integer(
        "warmup",
        (1, 1_000_000_000),
        "1000",
        "messages before the first repeat",
    ),
    Row::integer(
        "messages",
        (10, 1_000_000_000),
        "100000",
        "messages in a repeat",
    ),
    Row::integer("repeats", (1, 1000), "3", "repeats in this process"),
    Row {
        name: "limit",
        takes: Takes::Seconds,
        initial: "60",
        help: "seconds: a repeat that would take longer sends a tenth",
    },
    Row::word(
        "pacing",
        &PACINGS,
        "yield",
        "spin, yield or wait, while there is no room",
    ),
    Row::integer("pairs", (1, 1000), "1", "flow: connections"),
    Row::integer(
        "low",
        (0, GIB),
        "524288",
        "flow: buffered bytes at which sending goes on",
    ),
    Row::integer(
        "high",
        (4096, GIB),
        "1048576",
        "flow: buffered bytes at which it stops",
    ),
    Row::integer(
        "skip",
        (0, TIB),
        "16777216",
        "flow: bytes a pair before measuring",
    ),
    Row::integer(
        "bytes",
        (1, TIB),
        "50331648",
        "flow: bytes a pair that are measured",
    ),
];

#[derive(Clone, Debug)]
pub struct Options {
    pub flow: bool, // else the message shape
    pub size: usize,
    pub delivery: Delivery,
    pub pacing: Pacing,
    pub in_flight: u64,
    pub warmup: u64,
    pub messages: u64,
    pub repeats: u64,
    pub limit: f64, // seconds
    pub pairs: usize,
    pub low: u64,
    pub high: u64,
    pub skip: u64,
    pub bytes: u64,
    values: Values,
}

impl Options {
    /// The value of an option that takes a word.
    pub fn word(&self, name: &str) -> &str {
        self.values.text(name)
    }
}

#[derive(Clone, Debug)]
struct Values(BTreeMap<&'static str, String>);

/// Every row is in it, with a value that it allows.
impl Values {
    fn text(&self, name: &str) -> &str {
        &self.0[name]
    }

    fn integer(&self, name: &str) -> u64 {
        integer(self.text(name)).expect("an integer")
    }

    fn options(self, flow: bool) -> Options {
        Options {
            flow,
            size: self.integer("size") as usize,
            delivery: match self.text("delivery") {
                "ordered" => Delivery::Ordered,
                "unordered" => Delivery::Unordered,
                _ => Delivery::Unreliable,
            },
            pacing: match self.text("pacing") {
                "spin" => Pacing::Spin,
                "yield" => Pacing::Yield,
                _ => Pacing::Wait,
            },
            in_flight: self.integer("in-flight"),
            warmup: self.integer("warmup"),
            messages: self.integer("messages"),
            repeats: self.integer("repeats"),
            limit: seconds(self.text("limit")).expect("seconds"),
            pairs: self.integer("pairs") as usize,
            low: self.integer("low"),
            high: self.integer("high"),
            skip: self.integer("skip"),
            bytes: self.integer("bytes"),
            values: self,
        }
    }
}

pub enum Request {
    Help(String),
    Run(Options),
    Check(Options),
}

fn help(program: &str, rows: &[Row]) -> String {
    let lines: Vec<String> = rows
        .iter()
        .map(|row| format!("  --{:<12} {}", row.name, row.help))
        .collect();
    format!(
        "usage: {program} message|flow [OPTIONS]\n       {program} check message|flow [OPTIONS]\n\
         Messages over data channels between two peers in this process. `check` only says\n\
         whether the stack can: status 3 and a line 'unsupported: REASON' where it cannot.\n{}",
        lines.join("\n")
    )
}

fn values(arguments: &[String], rows: &[Row]) -> Result<Values, String> {
    let mut values: BTreeMap<_, _> = rows
        .iter()
        .map(|r| (r.name, r.initial.to_string()))
        .collect();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let named = |row: &&Row| argument.strip_prefix("--") == Some(row.name);
        let (Some(row), Some(value)) = (rows.iter().find(named), rest.next()) else {
            return Err(format!(
                "unknown option, or one without its value: '{argument}'"
            ));
        };
        if !row.is_allowed(value) {
            let allowed = row.allowed();
            return Err(format!(
                "'{value}' is not a value for --{}: {allowed}",
                row.name
            ));
        }
        values.insert(row.name, value.clone());
    }
    Ok(Values(values))
}

/// The arguments after the program's name; `more` are options of one stack.
pub fn parse(program: &str, arguments: &[String], more: &[Row]) -> Result<Request, String> {
    let rows: Vec<Row> = ROWS.iter().chain(more).copied().collect();
    let check = arguments.first().is_some_and(|a| a == "check");
    let (shape, rest) = match arguments[usize::from(check)..].split_first() {
        None => return Err("no shape: message or flow, see --help".into()),
        Some((word, _)) if word == "--help" || word == "-h" => {
            return Ok(Request::Help(help(program, &rows)));
        }
        Some((shape, rest)) => (shape.as_str(), rest),
    };
    if shape != "message" && shape != "flow" {
        return Err(format!("'{shape}' is not a shape: message or flow"));
    }
    let options = values(rest, &rows)?.options(shape == "flow");
    if options.low >= options.high {
        return Err(format!(
            "--low {} is not below --high {}",
            options.low, options.high
        ));
    }
    Ok(if check {
        Request::Check(options)
    } else {
        Request::Run(options)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MORE: [Row; 1] = [Row::word("knob", &["off", "on"], "off", "a stack's own")];

    fn parsed(text: &str) -> Result<Request, String> {
        let arguments: Vec<String> = text.split_whitespace().map(String::from).collect();
        parse("x", &arguments, &MORE)
    }

    fn refused(text: &str) -> String {
        parsed(text).err().expect("refused")
    }

    #[test]
    fn every_initial_value_is_allowed() {
        assert!(ROWS.iter().all(|row| row.is_allowed(row.initial)));
    }

    #[test]
    fn options_are_read() {
        let Ok(Request::Run(o)) =
            parsed("flow --size 24 --delivery unreliable --limit 0.5 --pacing wait --knob on")
        else {
            panic!("not read")
        };
        assert!(o.flow && o.size == 24 && o.delivery == Delivery::Unreliable && o.limit == 0.5);
        assert_eq!(o.pacing, Pacing::Wait);
        assert_eq!((o.word("knob"), o.in_flight, o.high), ("on", 512, 1048576));
        assert!(matches!(parsed("check message"), Ok(Request::Check(_))));
        assert!(matches!(parsed("--help"), Ok(Request::Help(_))));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(refused(""), "no shape: message or flow, see --help");
        assert_eq!(refused("fast"), "'fast' is not a shape: message or flow");
        assert_eq!(
            refused("message --size 23"),
            "'23' is not a value for --size: 24 to 65536"
        );
        assert_eq!(
            refused("message --size +24"),
            "'+24' is not a value for --size: 24 to 65536"
        );
        assert_eq!(
            refused("message --limit 0"),
            "'0' is not a value for --limit: seconds, up to 86400"
        );
        assert_eq!(
            refused("message --limit inf"),
            "'inf' is not a value for --limit: seconds, up to 86400"
        );
        assert_eq!(
            refused("message --knob x"),
            "'x' is not a value for --knob: off, on"
        );
        assert_eq!(
            refused("message --size"),
            "unknown option, or one without its value: '--size'"
        );
        assert_eq!(
            refused("message size 24"),
            "unknown option, or one without its value: 'size'"
        );
        assert_eq!(
            refused("flow --low 4096 --high 4096"),
            "--low 4096 is not below --high 4096"
        );
    }
}
