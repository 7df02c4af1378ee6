//! webrtc-rs: messages over the data channels of the crate `webrtc`, versions before 0.20. Both peers
//! are in this process.

use bytes::Bytes;
use harness::{Channel, Delivery, End, Events, Failure, Options, Stack, ends, pinned};
use std::sync::Arc;
use webrtc::api::setting_engine::SettingEngine;
use webrtc::api::{API, APIBuilder};
use webrtc::data_channel::RTCDataChannel;
use webrtc::data_channel::data_channel_init::RTCDataChannelInit;
use webrtc::ice::mdns::MulticastDnsMode;
use webrtc::ice::network_type::NetworkType;
use webrtc::peer_connection::RTCPeerConnection;
use webrtc::peer_connection::configuration::RTCConfiguration;

const RECEIVE_BUFFER: usize = 65535; // of the stack, a channel

struct WebrtcRs;

struct Pair {
    offerer: RTCPeerConnection,
    answerer: RTCPeerConnection,
    channel: Arc<RTCDataChannel>,
}

/// ICE keeps to 127.0.0.1: no server is asked, no other interface is used.
fn api() -> API {
    let mut settings = SettingEngine::default();
    settings.set_include_loopback_candidate(true);
    settings.set_interface_filter(Box::new(|name| name == "lo"));
    settings.set_network_types(vec![NetworkType::Udp4]);
    settings.set_ice_multicast_dns_mode(MulticastDnsMode::Disabled);
    APIBuilder::new().with_setting_engine(settings).build()
}

fn channel_init(delivery: Delivery) -> RTCDataChannelInit {
    RTCDataChannelInit {
        ordered: Some(delivery == Delivery::Ordered),
        max_retransmits: (delivery == Delivery::Unreliable).then_some(0),
        ..Default::default()
    }
}

/// The offer and the answer; candidates travel inside them.
async fn exchange(from: &RTCPeerConnection, to: &RTCPeerConnection) -> Result<(), Failure> {
    let mut gathered = from.gathering_complete_promise().await;
    from.set_local_description(from.create_offer(None).await?)
        .await?;
    gathered.recv().await;
    let offer = from.local_description().await.ok_or("there is no offer")?;
    to.set_remote_description(offer).await?;
    let mut gathered = to.gathering_complete_promise().await;
    to.set_local_description(to.create_answer(None).await?)
        .await?;
    gathered.recv().await;
    let answer = to.local_description().await.ok_or("there is no answer")?;
    Ok(from.set_remote_description(answer).await?)
}

fn tell_opened(channel: &RTCDataChannel, end: End) {
    channel.on_open(Box::new(move || {
        end.opened();
        Box::pin(async {})
    }));
}

fn receive(peer: &RTCPeerConnection, end: End) {
    peer.on_data_channel(Box::new(move |channel| {
        let told = end.clone();
        channel.on_message(Box::new(move |message| {
            told.message(&message.data);
            Box::pin(async {})
        }));
        tell_opened(&channel, end.clone());
        Box::pin(async {})
    }));
}

async fn tell_room(channel: &RTCDataChannel, low: u64, end: End) {
    channel
        .set_buffered_amount_low_threshold(low as usize)
        .await;
    let on_low = move || -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        end.room();
        Box::pin(async {})
    };
    channel.on_buffered_amount_low(Box::new(on_low)).await;
}

impl Stack for WebrtcRs {
    const PROGRAM: &'static str = "webrtc-rs";
    type Channel = Pair;

    fn version(&self) -> &'static str {
        pinned(include_str!("../Cargo.toml"), "webrtc")
    }

    fn unsupported(&self, options: &Options) -> Option<String> {
        (options.size > RECEIVE_BUFFER).then(|| {
            format!(
                "{} B: the stack receives at most {RECEIVE_BUFFER}",
                options.size
            )
        })
    }

    async fn open(
        &self,
        o: &Options,
        pair: usize,
        events: Arc<dyn Events>,
    ) -> Result<Pair, Failure> {
        let api = api();
        let offerer = api.new_peer_connection(RTCConfiguration::default()).await?;
        let answerer = api.new_peer_connection(RTCConfiguration::default()).await?;
        let (sender, receiver, both) = ends(pair, events);
        let init = channel_init(o.delivery);
        let channel = offerer.create_data_channel("abba", Some(init)).await?;
        tell_room(&channel, o.low, sender.clone()).await;
        tell_opened(&channel, sender);
        receive(&answerer, receiver);
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
        self.channel.send(&Bytes::copy_from_slice(message)).await?;
        Ok(())
    }

    async fn buffered(&self) -> Result<u64, Failure> {
        Ok(self.channel.buffered_amount().await as u64)
    }

    async fn close(&self) {
        let _ = self.offerer.close().await;
        let _ = self.answerer.close().await;
    }
}

fn main() -> ! {
    harness::main(WebrtcRs)
}
