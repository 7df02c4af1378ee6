//! Pairs whose send buffers are kept between two marks.

use crate::message::{self, Id};
use crate::meter::{HeapWindow, Outcome, cpu_time, since_birth};
use crate::options::{Delivery, Options};
use crate::shape_message::cannot_send;
use crate::stack::{Channel, Events, Failure, Stack};
use crate::watch::{close_all, open_all, unless_stalled};
use std::io::Write;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;

#[derive(Default)]
struct Pair {
    bytes: AtomicU64, // arrived
    sent: AtomicU64,  // messages
    next: AtomicU64,  // ordered delivery: the sequence to come
    room: Notify,     // the send buffer has sunk to low
}

/// What has been used up and done until a moment.
#[derive(Clone, Copy)]
struct Moment {
    at: Duration,
    cpu: Duration,
    bytes: u64,
    messages: u64,
    sent: u64,
}

impl Moment {
    fn until(&self, end: &Moment, repeat: u64) -> Outcome {
        Outcome {
            repeat,
            elapsed: end.at.saturating_sub(self.at),
            cpu: end.cpu.saturating_sub(self.cpu),
            bytes: end.bytes - self.bytes,
            messages: end.messages - self.messages,
            sent: end.sent - self.sent,
            lost: 0,
        }
    }
}

/// So many bytes a pair.
struct Mark {
    at: u64,
    beyond: AtomicU64,        // pairs
    moment: OnceLock<Moment>, // at which the last of them was
    reached: Notify,
}

impl Mark {
    fn new(at: u64) -> Mark {
        Mark {
            at,
            beyond: AtomicU64::new(0),
            moment: OnceLock::new(),
            reached: Notify::new(),
        }
    }

    /// Whether the last pair passes it.
    fn is_passed(&self, before: u64, after: u64, pairs: usize) -> bool {
        before < self.at
            && after >= self.at
            && self.beyond.fetch_add(1, Relaxed) + 1 == pairs as u64
    }

    fn reach(&self, moment: Moment) {
        if self.moment.set(moment).is_ok() {
            self.reached.notify_one();
        }
    }

    /// The moment at which it was reached: who waits may be woken later.
    async fn passed(&self) -> Moment {
        loop {
            match self.moment.get() {
                Some(moment) => return *moment,
                None => self.reached.notified().await,
            }
        }
    }
}

struct Flow {
    options: Options,
    pairs: Vec<Pair>,
    messages: AtomicU64,
    damaged: AtomicU64,
    marks: [Mark; 2],
}

impl Flow {
    fn new(options: Options) -> Flow {
        Flow {
            pairs: (0..options.pairs).map(|_| Pair::default()).collect(),
            messages: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
            marks: [options.skip, options.skip + options.bytes].map(Mark::new),
            options,
        }
    }

    fn is_as_expected(&self, id: Option<Id>, pair: usize, next: u64) -> bool {
        let ordered = self.options.delivery == Delivery::Ordered;
        id.is_some_and(|id| id.pair as usize == pair && (!ordered || id.sequence == next))
    }

    fn now(&self) -> Moment {
        Moment {
            bytes: self.sum(|p| &p.bytes),
            messages: self.messages.load(Acquire),
            sent: self.sum(|p| &p.sent),
            cpu: cpu_time(),
            at: since_birth(),
        }
    }

    fn sum(&self, of: impl Fn(&Pair) -> &AtomicU64) -> u64 {
        self.pairs.iter().map(|p| of(p).load(Acquire)).sum()
    }
}

impl Events for Flow {
    fn message(&self, pair: usize, bytes: &[u8]) {
        let (p, size) = (&self.pairs[pair], bytes.len() as u64);
        let id = message::read(bytes, self.options.size);
        let next = p.next.load(Relaxed);
        if !self.is_as_expected(id, pair, next) {
            self.damaged.fetch_add(1, Relaxed);
        }
        p.next.store(id.map_or(next, |id| id.sequence) + 1, Relaxed);
        self.messages.fetch_add(1, Relaxed);
        let before = p.bytes.fetch_add(size, Release);
        for mark in &self.marks {
            if mark.is_passed(before, before + size, self.pairs.len()) {
                mark.reach(self.now());
            }
        }
    }

    fn room(&self, pair: usize) {
        self.pairs[pair].room.notify_one();
    }
}

/// Keeps the pair's buffer between low and high, until it is dropped.
async fn fill<C: Channel>(flow: Arc<Flow>, channel: Arc<C>, pair: usize) -> Result<(), Failure> {
    let mut outgoing = message::new(flow.options.size);
    let at = &flow.pairs[pair];
    loop {
        while channel.buffered().await.map_err(cannot_send)? > flow.options.high {
            at.room.notified().await;
        }
        let id = Id {
            round: 0,
            pair: pair as u32,
            sequence: at.sent.load(Relaxed),
        };
        message::stamp(&mut outgoing, id);
        channel.send(&outgoing).await.map_err(cannot_send)?;
        at.sent.fetch_add(1, Release);
    }
}

/// Lasts until all pairs are beyond the mark.
async fn phase(
    flow: &Flow,
    mark: &Mark,
    fillers: &mut JoinSet<Result<(), Failure>>,
) -> Result<Moment, Failure> {
    let _window = HeapWindow::open();
    let work = async {
        tokio::select! {
            moment = mark.passed() => Ok(moment),
            Some(ended) = fillers.join_next() => Err(ended?.err().unwrap_or("a sender has ended".into())),
        }
    };
    unless_stalled(work, || flow.messages.load(Relaxed)).await
}

async fn both_phases<C: Channel>(
    flow: &Arc<Flow>,
    channels: &[Arc<C>],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut fillers = JoinSet::new();
    writeln!(out, "ready")?;
    let begun = flow.now();
    if flow.options.skip == 0 {
        flow.marks[0].reach(begun);
    }
    for (pair, channel) in channels.iter().enumerate() {
        fillers.spawn(fill(flow.clone(), channel.clone(), pair));
    }
    let skipped = phase(flow, &flow.marks[0], &mut fillers).await?;
    writeln!(out, "{}", begun.until(&skipped, 1).line())?;
    let done = phase(flow, &flow.marks[1], &mut fillers).await;
    fillers.shutdown().await;
    let measured = skipped.until(&done?, 2);
    writeln!(out, "{}", measured.line())?;
    writeln!(
        out,
        "FINAL {:.3} Mbit/s aggregate over {} pairs (ordered={}) in {:.3}s",
        measured.megabits_per_second(),
        channels.len(),
        flow.options.delivery == Delivery::Ordered,
        measured.elapsed.as_secs_f64()
    )?;
    Ok(())
}

/// Whether every message was whole and kept what its delivery promises.
pub async fn run<S: Stack>(
    stack: &S,
    options: Options,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let flow = Arc::new(Flow::new(options));
    let channels = open_all(stack, &flow.options, flow.options.pairs, flow.clone()).await?;
    let done = both_phases(&flow, &channels, out).await;
    close_all(&channels).await;
    done.map(|()| flow.damaged.load(Relaxed) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{self, Request};

    fn flow(arguments: &str) -> Flow {
        let arguments: Vec<String> = arguments.split(' ').map(String::from).collect();
        match options::parse("x", &arguments, &[]) {
            Ok(Request::Run(options)) => Flow::new(options),
            _ => panic!("no options"),
        }
    }

    fn arrive(flow: &Flow, pair: u32, sequence: u64) {
        let mut bytes = message::new(flow.options.size);
        let id = Id {
            round: 0,
            pair,
            sequence,
        };
        message::stamp(&mut bytes, id);
        flow.message(pair as usize, &bytes);
    }

    #[test]
    fn a_phase_lasts_from_mark_to_mark_whenever_its_end_is_noticed() {
        let flow = flow("flow --pairs 2 --size 100 --skip 200 --bytes 300");
        for sequence in 0..9 {
            arrive(&flow, 0, sequence);
        }
        for sequence in 0..9 {
            arrive(&flow, 1, sequence);
        }
        let [skip, end] = [0, 1].map(|i| flow.marks[i].moment.get().expect("reached"));
        assert_eq!((skip.messages, end.messages), (11, 14));
        let measured = skip.until(end, 2);
        assert_eq!((measured.messages, measured.bytes), (3, 300));
        assert_eq!(flow.damaged.load(Relaxed), 0);
    }

    #[test]
    fn what_comes_out_of_order_or_to_another_pair_is_damaged() {
        let flow = flow("flow --pairs 2 --size 100");
        arrive(&flow, 0, 0);
        arrive(&flow, 0, 2);
        assert_eq!(flow.damaged.load(Relaxed), 1);
        let mut bytes = message::new(100);
        message::stamp(
            &mut bytes,
            Id {
                round: 0,
                pair: 0,
                sequence: 0,
            },
        );
        flow.message(1, &bytes);
        assert_eq!(flow.damaged.load(Relaxed), 2);
    }
}
