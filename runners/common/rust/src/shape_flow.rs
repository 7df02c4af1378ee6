//! Pairs whose send buffers are kept between two marks.

use crate::message::{self, Id};
use crate::meter::{HeapWindow, Outcome, cpu_time, since_birth};
use crate::options::{Delivery, Options};
use crate::shape_message::cannot_send;
use crate::stack::{Channel, Events, Failure, Stack};
use crate::watch::{close_all, open_all, unless_stalled};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use tokio::sync::Notify;
use tokio::task::JoinSet;

#[derive(Default)]
struct Pair {
    bytes: AtomicU64, // arrived
    sent: AtomicU64,  // messages
    next: AtomicU64,  // ordered delivery: the sequence to come
    room: Notify,     // the send buffer has sunk to low
}

/// So many bytes a pair.
struct Mark {
    at: u64,
    beyond: AtomicU64, // pairs
    reached: Notify,   // by all of them
}

impl Mark {
    fn new(at: u64) -> Mark {
        let mark = Mark {
            at,
            beyond: AtomicU64::new(0),
            reached: Notify::new(),
        };
        if at == 0 {
            mark.reached.notify_one();
        }
        mark
    }

    fn passed(&self, before: u64, after: u64, pairs: usize) {
        let passes = before < self.at && after >= self.at;
        if passes && self.beyond.fetch_add(1, Relaxed) + 1 == pairs as u64 {
            self.reached.notify_one();
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
            mark.passed(before, before + size, self.pairs.len());
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
    repeat: u64,
    mark: &Mark,
    fillers: &mut JoinSet<Result<(), Failure>>,
) -> Result<Outcome, Failure> {
    let _window = HeapWindow::open();
    let (bytes, sent) = (flow.sum(|p| &p.bytes), flow.sum(|p| &p.sent));
    let messages = flow.messages.load(Acquire);
    let (begun, cpu) = (since_birth(), cpu_time());
    let work = async {
        tokio::select! {
            () = mark.reached.notified() => Ok(()),
            Some(ended) = fillers.join_next() => ended?,
        }
    };
    unless_stalled(work, || flow.messages.load(Relaxed)).await?;
    Ok(Outcome {
        repeat,
        elapsed: since_birth() - begun,
        cpu: cpu_time() - cpu,
        messages: flow.messages.load(Acquire) - messages,
        sent: flow.sum(|p| &p.sent) - sent,
        lost: 0,
        bytes: flow.sum(|p| &p.bytes) - bytes,
    })
}

async fn both_phases<C: Channel>(
    flow: &Arc<Flow>,
    channels: &[Arc<C>],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut fillers = JoinSet::new();
    writeln!(out, "ready")?;
    for (pair, channel) in channels.iter().enumerate() {
        fillers.spawn(fill(flow.clone(), channel.clone(), pair));
    }
    let skipped = phase(flow, 1, &flow.marks[0], &mut fillers).await?;
    writeln!(out, "{}", skipped.line())?;
    let measured = phase(flow, 2, &flow.marks[1], &mut fillers).await;
    fillers.shutdown().await;
    let measured = measured?;
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
