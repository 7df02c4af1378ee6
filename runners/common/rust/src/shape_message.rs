//! So many messages, so many under way.

use crate::message::{self, Id};
use crate::meter::{HeapWindow, Outcome, cpu_time, since_birth};
use crate::options::{Delivery, Options, Pacing};
use crate::stack::{Channel, Events, Failure, Stack};
use crate::watch::{close_all, open_all, unless_stalled};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

const WRITE_OFF: Duration = Duration::from_millis(200); // what has not come by then does not come
const LOOK: Duration = Duration::from_millis(50); // how long who sleeps does not look
const TRIES: u32 = 1024; // of who does not, between two looks
const NOBODY: u64 = u64::MAX;

/// One repeat, as its receiver sees it.
struct Arrivals {
    options: Options,
    round: AtomicU32,
    count: AtomicU64,
    bytes: AtomicU64,
    damaged: AtomicU64,
    last_ns: AtomicU64, // of the last arrival
    next: AtomicU64,    // ordered delivery: the sequence to come
    wake_at: AtomicU64, // count at which a sender that sleeps is woken
    wake: Notify,
}

impl Arrivals {
    fn new(options: Options) -> Arrivals {
        Arrivals {
            options,
            round: AtomicU32::new(0),
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
            last_ns: AtomicU64::new(0),
            next: AtomicU64::new(0),
            wake_at: AtomicU64::new(NOBODY),
            wake: Notify::new(),
        }
    }

    fn begin(&self, round: u32) {
        for counter in [&self.count, &self.bytes, &self.last_ns, &self.next] {
            counter.store(0, Relaxed);
        }
        self.round.store(round, Release);
    }

    fn last(&self) -> Duration {
        Duration::from_nanos(self.last_ns.load(Relaxed))
    }

    /// Sleeps until so many have come, or for a moment in which somebody must look at what stalls.
    async fn sleep_until(&self, count: u64) {
        self.wake_at.store(count, SeqCst); // before the look: an arrival after it is heard of
        if self.count.load(SeqCst) < count {
            let _ = timeout(LOOK, self.wake.notified()).await;
        }
        self.wake_at.store(NOBODY, SeqCst);
    }
}

impl Events for Arrivals {
    fn message(&self, _pair: usize, bytes: &[u8]) {
        let Some(id) = message::read(bytes, self.options.size) else {
            self.damaged.fetch_add(1, Relaxed);
            return;
        };
        if id.round != self.round.load(Acquire) {
            return; // written off in the repeat before
        }
        let ordered = self.options.delivery == Delivery::Ordered;
        if ordered && id.sequence != self.next.load(Relaxed) {
            self.damaged.fetch_add(1, Relaxed);
        }
        self.next.store(id.sequence + 1, Relaxed);
        self.last_ns.store(since_birth().as_nanos() as u64, Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Relaxed);
        let count = self.count.fetch_add(1, SeqCst) + 1;
        if count >= self.wake_at.load(SeqCst) {
            self.wake_at.store(NOBODY, SeqCst);
            self.wake.notify_one();
        }
    }

    fn room(&self, _pair: usize) {}
}

struct Sender<C> {
    arrivals: Arc<Arrivals>,
    channel: Arc<C>,
    outgoing: Vec<u8>,
    sent: u64,
    lost: u64,
}

impl<C: Channel> Sender<C> {
    fn under_way(&self) -> u64 {
        let done = self.arrivals.count.load(Acquire) + self.lost;
        self.sent.saturating_sub(done)
    }

    /// A moment in which `most` or more are under way. Who sleeps does so until there is room for a
    /// quarter of them: to be woken for every message would cost more than the message.
    async fn wait_for_fewer(&self, most: u64) {
        match self.arrivals.options.pacing {
            Pacing::Spin => std::hint::spin_loop(),
            Pacing::Yield => std::thread::yield_now(),
            Pacing::Wait => {
                let left = most - 1 - (most - 1) / 4;
                self.arrivals
                    .sleep_until(self.sent - self.lost - left)
                    .await;
            }
        }
    }

    /// Waits until fewer than `most` are under way. Where some were written off: the CPU time at about
    /// which the last of the others arrived.
    async fn await_fewer(&mut self, most: u64) -> Option<Duration> {
        let sleeps = self.arrivals.options.pacing == Pacing::Wait;
        let (mut heard, mut cpu) = (since_birth(), None);
        let mut tries = 0;
        while self.under_way() >= most {
            self.wait_for_fewer(most).await;
            tries += 1;
            if !sleeps && tries % TRIES != 0 {
                continue;
            }
            if cpu.is_none() || self.arrivals.last() > heard {
                heard = heard.max(self.arrivals.last());
                cpu = Some(cpu_time());
            }
            if self.may_write_off() && since_birth() - heard >= WRITE_OFF {
                self.lost = self.sent - self.arrivals.count.load(Acquire);
                return cpu;
            }
            tokio::task::yield_now().await; // to what watches this
        }
        None
    }

    fn may_write_off(&self) -> bool {
        self.arrivals.options.delivery == Delivery::Unreliable
    }

    /// Gives the CPU time at the last arrival.
    async fn send_and_drain(&mut self, round: u32, messages: u64) -> Result<Duration, Failure> {
        let in_flight = self.arrivals.options.in_flight;
        while self.sent < messages {
            if self.under_way() >= in_flight {
                self.await_fewer(in_flight).await;
            }
            let id = Id {
                round,
                pair: 0,
                sequence: self.sent,
            };
            message::stamp(&mut self.outgoing, id);
            self.channel
                .send(&self.outgoing)
                .await
                .map_err(cannot_send)?;
            self.sent += 1;
        }
        Ok(self.await_fewer(1).await.unwrap_or_else(cpu_time))
    }

    /// So many messages, from the first send to the last arrival.
    async fn send_all(&mut self, round: u32, messages: u64) -> Result<Outcome, Failure> {
        let arrivals = self.arrivals.clone();
        (self.sent, self.lost) = (0, 0);
        arrivals.begin(round);
        let (begun, cpu) = (since_birth(), cpu_time());
        let work = self.send_and_drain(round, messages);
        let ended = unless_stalled(work, || arrivals.count.load(Relaxed)).await?;
        let count = arrivals.count.load(Acquire);
        Ok(Outcome {
            repeat: round.into(),
            messages: count,
            sent: self.sent,
            lost: self.sent - count,
            bytes: arrivals.bytes.load(Relaxed),
            elapsed: arrivals.last().saturating_sub(begun),
            cpu: ended - cpu,
        })
    }
}

pub fn cannot_send(e: Failure) -> Failure {
    format!("cannot send a message: {e}").into()
}

/// How many messages a repeat sends, and a note where all would take too long: then a tenth.
fn calibrate(options: &Options, warmup: &Outcome) -> (u64, Option<String>) {
    let (all, tenth) = (options.messages, options.messages / 10);
    let projected = match warmup.messages {
        0 => None,
        n => Some(warmup.elapsed.as_secs_f64() / n as f64 * all as f64),
    };
    match projected {
        Some(seconds) if seconds <= options.limit => (all, None),
        _ => {
            let seconds = projected.unwrap_or(0.0);
            let note = format!("NOTE count lowered to {tenth}: {seconds:.1} s projected for {all}");
            (tenth, Some(note))
        }
    }
}

async fn repeats<C: Channel>(sender: &mut Sender<C>, out: &mut dyn Write) -> Result<(), Failure> {
    let options = sender.arrivals.options.clone();
    let warmup = sender.send_all(0, options.warmup).await?;
    writeln!(out, "ready")?;
    let (messages, note) = calibrate(&options, &warmup);
    if let Some(note) = note {
        writeln!(out, "{note}")?;
    }
    for repeat in 1..=options.repeats {
        let window = HeapWindow::open();
        let outcome = sender.send_all(repeat as u32, messages).await;
        drop(window);
        writeln!(out, "{}", outcome?.line())?;
    }
    Ok(())
}

/// Whether every message was whole and kept what its delivery promises.
pub async fn run<S: Stack>(
    stack: &S,
    options: Options,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let arrivals = Arc::new(Arrivals::new(options));
    let channels = open_all(stack, &arrivals.options, 1, arrivals.clone()).await?;
    let mut sender = Sender {
        outgoing: message::new(arrivals.options.size),
        arrivals: arrivals.clone(),
        channel: channels[0].clone(),
        sent: 0,
        lost: 0,
    };
    let done = repeats(&mut sender, out).await;
    close_all(&channels).await;
    done.map(|()| arrivals.damaged.load(Relaxed) == 0)
}
