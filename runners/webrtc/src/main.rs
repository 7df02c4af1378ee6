//! webrtc: messages over the data channels of the crate `webrtc`, versions from 0.20: tasks around the
//! core `rtc`. Both peers are in this process.

mod runtime;

use async_trait::async_trait;
use bytes::BytesMut;
use harness::{Channel, Delivery, End, Events, Failure, Options, Row, Stack, ends, pinned};
use runtime::LargeBuffers;
use std::sync::Arc;
use tokio::sync::mpsc;
use webrtc::data_channel::{DataChannel, DataChannelEvent, RTCDataChannelInit};
use webrtc::peer_connection::{
    PeerConnection, PeerConnectionBuilder, PeerConnectionEventHandler, RTCIceGatheringState,
};
use webrtc::runtime::{Runtime, TokioRuntime};

const REACTOR: Row = Row::word(
    "reactor",
    &["shared", "dedicated"],
    "shared",
    "where a peer's driver runs: among all tasks, or on one of two threads for drivers alone",
);
const UDP_BUFFER: Row = Row::word(
    "udp-buffer",
    &["system", "large"],
    "system",
    "what sockets may hold: the stack leaves it to the system; large is 4 MiB, where allowed",
);

struct Webrtc;

struct Pair {
    offerer: Arc<dyn PeerConnection>,
    answerer: Arc<dyn PeerConnection>,
    channel: Arc<dyn DataChannel>,
}

/// What happens at one peer.
struct Handler {
    end: End,
    gathered: mpsc::Sender<()>,
}

/// Until the channel is closed.
async fn follow(channel: Arc<dyn DataChannel>, end: End) {
    while let Some(event) = channel.poll().await {
        match event {
            DataChannelEvent::OnMessage(message) => end.message(&message.data),
            DataChannelEvent::OnBufferedAmountLow => end.room(),
            DataChannelEvent::OnOpen => end.opened(),
            DataChannelEvent::OnClose => break,
            _ => {}
        }
    }
}

#[async_trait]
impl PeerConnectionEventHandler for Handler {
    async fn on_ice_gathering_state_change(&self, state: RTCIceGatheringState) {
        if state == RTCIceGatheringState::Complete {
            let _ = self.gathered.try_send(());
        }
    }

    /// The peer's driver waits for this to return.
    async fn on_data_channel(&self, channel: Arc<dyn DataChannel>) {
        tokio::spawn(follow(channel, self.end.clone()));
    }
}

/// No server is asked, and only 127.0.0.1 is used.
async fn peer(handler: Handler, o: &Options) -> Result<Arc<dyn PeerConnection>, Failure> {
    let runtime: Arc<dyn Runtime> = match o.word(UDP_BUFFER.name) {
        "large" => Arc::new(LargeBuffers(TokioRuntime)),
        _ => Arc::new(TokioRuntime),
    };
    let reactors = if o.word(REACTOR.name) == "dedicated" {
        2
    } else {
        0
    };
    let peer = PeerConnectionBuilder::new()
        .with_handler(Arc::new(handler))
        .with_runtime(runtime)
        .with_udp_addrs(vec!["127.0.0.1:0"])
        .with_dedicated_reactor_pool_size(reactors)
        .build()
        .await?;
    Ok(Arc::new(peer))
}

fn channel_init(delivery: Delivery) -> RTCDataChannelInit {
    RTCDataChannelInit {
        ordered: delivery == Delivery::Ordered,
        max_retransmits: (delivery == Delivery::Unreliable).then_some(0),
        ..Default::default()
    }
}

/// The offer and the answer; candidates travel inside them.
async fn exchange(
    (from, offered): (&dyn PeerConnection, &mut mpsc::Receiver<()>),
    (to, answered): (&dyn PeerConnection, &mut mpsc::Receiver<()>),
) -> Result<(), Failure> {
    from.set_local_description(from.create_offer(None).await?)
        .await?;
    offered.recv().await;
    let offer = from.local_description().await.ok_or("there is no offer")?;
    to.set_remote_description(offer).await?;
    to.set_local_description(to.create_answer(None).await?)
        .await?;
    answered.recv().await;
    let answer = to.local_description().await.ok_or("there is no answer")?;
    Ok(from.set_remote_description(answer).await?)
}

impl Stack for Webrtc {
    const PROGRAM: &'static str = "webrtc";
    type Channel = Pair;

    fn version(&self) -> &'static str {
        pinned(include_str!("../Cargo.toml"), "webrtc")
    }

    fn rows(&self) -> &'static [Row] {
        &[REACTOR, UDP_BUFFER]
    }

    async fn open(
        &self,
        o: &Options,
        pair: usize,
        events: Arc<dyn Events>,
    ) -> Result<Pair, Failure> {
        let (sender, receiver, both) = ends(pair, events);
        let (gathered, mut offered) = mpsc::channel(1);
        let end = sender.clone();
        let offerer = peer(Handler { end, gathered }, o).await?;
        let (gathered, mut answered) = mpsc::channel(1);
        let end = receiver;
        let answerer = peer(Handler { end, gathered }, o).await?;
        let init = channel_init(o.delivery);
        let channel = offerer.create_data_channel("abba", Some(init)).await?;
        channel
            .set_buffered_amount_low_threshold(o.low as u32)
            .await?;
        tokio::spawn(follow(channel.clone(), sender));
        exchange((&*offerer, &mut offered), (&*answerer, &mut answered)).await?;
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
        Ok(self.channel.send(BytesMut::from(message)).await?)
    }

    async fn buffered(&self) -> Result<u64, Failure> {
        Ok(self.channel.outstanding_bytes().await? as u64)
    }

    async fn close(&self) {
        let _ = self.offerer.close().await;
        let _ = self.answerer.close().await;
    }
}

fn main() -> ! {
    harness::main(Webrtc)
}
