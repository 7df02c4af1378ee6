//! rustrtc: messages over the data channels of the crate `rustrtc`. Both peers are in this process.

use harness::{Channel, Delivery, End, Events, Failure, Options, Stack, ends, pinned};
use rustrtc::transports::sctp::{DataChannel, DataChannelConfig, DataChannelEvent};
use rustrtc::{PeerConnection, PeerConnectionEvent, RtcConfiguration};
use std::sync::Arc;

struct Rustrtc;

struct Pair {
    offerer: PeerConnection,
    answerer: PeerConnection,
    channel: Arc<DataChannel>,
}

/// Until the channel is closed.
async fn follow(channel: Arc<DataChannel>, end: End) {
    while let Some(event) = channel.recv().await {
        match event {
            DataChannelEvent::Message(message) => end.message(&message),
            DataChannelEvent::BufferedAmountLow(_) => end.room(),
            DataChannelEvent::Open => end.opened(),
            DataChannelEvent::Close => break,
        }
    }
}

/// The channel that the other peer opens.
async fn await_channel(peer: PeerConnection, end: End) {
    while let Some(event) = peer.recv().await {
        if let PeerConnectionEvent::DataChannel(channel) = event {
            return follow(channel, end).await;
        }
    }
}

/// No server is asked, and only 127.0.0.1 is used. What is under way is bounded by the shapes, not by
/// the stack, whose own bound is less than they ask for.
fn peer() -> PeerConnection {
    PeerConnection::new(RtcConfiguration {
        bind_ip: Some("127.0.0.1".into()),
        disable_ipv6: true,
        sctp_max_buffered_amount: 0,
        ..Default::default()
    })
}

fn channel_config(o: &Options) -> DataChannelConfig {
    DataChannelConfig {
        ordered: o.delivery == Delivery::Ordered,
        max_retransmits: (o.delivery == Delivery::Unreliable).then_some(0),
        buffered_amount_low_threshold: o.low as usize,
        ..Default::default()
    }
}

/// The offer and the answer; candidates travel inside them.
async fn exchange(from: &PeerConnection, to: &PeerConnection) -> Result<(), Failure> {
    from.set_local_description(from.create_offer().await?)?;
    from.wait_for_gathering_complete().await;
    let offer = from.local_description().ok_or("there is no offer")?;
    to.set_remote_description(offer).await?;
    to.set_local_description(to.create_answer().await?)?;
    to.wait_for_gathering_complete().await;
    let answer = to.local_description().ok_or("there is no answer")?;
    Ok(from.set_remote_description(answer).await?)
}

impl Stack for Rustrtc {
    const PROGRAM: &'static str = "rustrtc";
    type Channel = Pair;

    fn version(&self) -> &'static str {
        pinned(include_str!("../Cargo.toml"), "rustrtc")
    }

    async fn open(
        &self,
        o: &Options,
        pair: usize,
        events: Arc<dyn Events>,
    ) -> Result<Pair, Failure> {
        let (offerer, answerer) = (peer(), peer());
        let (sender, receiver, both) = ends(pair, events);
        let channel = offerer.create_data_channel("abba", Some(channel_config(o)))?;
        tokio::spawn(follow(channel.clone(), sender));
        tokio::spawn(await_channel(answerer.clone(), receiver));
        exchange(&offerer, &answerer).await?;
        both.wait("a channel was closed before it was open").await?;
        Ok(Pair {
            offerer,
            answerer,
            channel,
        })
    }
}

impl Channel for Pair {
    async fn send(&self, message: &[u8]) -> Result<(), Failure> {
        Ok(self.offerer.send_data(self.channel.id, message).await?)
    }

    async fn buffered(&self) -> Result<u64, Failure> {
        Ok(self.channel.buffered_amount() as u64)
    }

    async fn close(&self) {
        self.offerer.close();
        self.answerer.close();
    }
}

fn main() -> ! {
    harness::main(Rustrtc)
}
