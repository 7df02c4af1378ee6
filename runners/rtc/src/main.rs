//! rtc: messages over the data channels of the crate `rtc`, a protocol without I/O: sockets, timers and
//! tasks are this harness's. Both peers are in this process.

mod peer;

use harness::{Channel, Delivery, End, Events, Failure, Options, Stack, ends, pinned};
use peer::Peer;
use rtc::data_channel::{RTCDataChannelId, RTCDataChannelInit};
use rtc::sansio::Protocol;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::AbortHandle;

struct Rtc;

struct Pair {
    offerer: Arc<Peer>,
    answerer: Arc<Peer>,
    channel: RTCDataChannelId,
    drivers: [AbortHandle; 2],
}

fn channel_init(delivery: Delivery) -> RTCDataChannelInit {
    RTCDataChannelInit {
        ordered: delivery == Delivery::Ordered,
        max_retransmits: (delivery == Delivery::Unreliable).then_some(0),
        ..Default::default()
    }
}

fn create_channel(peer: &Peer, o: &Options) -> Result<RTCDataChannelId, Failure> {
    let mut core = peer.core();
    let mut channel = core.create_data_channel("abba", Some(channel_init(o.delivery)))?;
    channel.set_buffered_amount_low_threshold(o.low as u32);
    Ok(channel.id())
}

/// The offer and the answer; candidates travel inside them.
fn exchange(from: &Peer, to: &Peer) -> Result<(), Failure> {
    let (mut from, mut to) = (from.core(), to.core());
    let now = Instant::now();
    let offer = from.create_offer(None)?;
    from.set_local_description(now, offer.clone())?;
    to.set_remote_description(now, offer)?;
    let answer = to.create_answer(None)?;
    to.set_local_description(now, answer.clone())?;
    Ok(from.set_remote_description(now, answer)?)
}

/// The task says on standard error why it ended: the messages that no longer come fail the run.
fn drive(peer: &Arc<Peer>, end: End) -> AbortHandle {
    let driver = peer.clone().drive(end);
    let watched = async {
        if let Err(e) = driver.await {
            eprintln!("{}: a peer has failed: {e}", Rtc::PROGRAM);
        }
    };
    tokio::spawn(watched).abort_handle()
}

impl Stack for Rtc {
    const PROGRAM: &'static str = "rtc";
    type Channel = Pair;

    fn version(&self) -> &'static str {
        pinned(include_str!("../Cargo.toml"), "rtc")
    }

    async fn open(
        &self,
        o: &Options,
        pair: usize,
        events: Arc<dyn Events>,
    ) -> Result<Pair, Failure> {
        let (offerer, answerer) = (Peer::bind().await?, Peer::bind().await?);
        let channel = create_channel(&offerer, o)?;
        exchange(&offerer, &answerer)?;
        let (sender, receiver, both) = ends(pair, events);
        let drivers = [drive(&offerer, sender), drive(&answerer, receiver)];
        both.wait("a peer has failed before the channel was open")
            .await?;
        Ok(Pair {
            offerer,
            answerer,
            channel,
            drivers,
        })
    }
}

impl Channel for Pair {
    async fn send(&self, message: &[u8]) -> Result<(), Failure> {
        self.offerer.send(self.channel, message)
    }

    async fn buffered(&self) -> Result<u64, Failure> {
        let mut core = self.offerer.core();
        let channel = core
            .data_channel(self.channel)
            .ok_or("the channel is closed")?;
        Ok(channel.outstanding_bytes() as u64)
    }

    async fn close(&self) {
        for peer in [&self.offerer, &self.answerer] {
            let _ = peer.core().close();
        }
        for driver in &self.drivers {
            driver.abort();
        }
    }
}

fn main() -> ! {
    harness::main(Rtc)
}
