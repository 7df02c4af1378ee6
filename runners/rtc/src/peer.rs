//! One peer: the protocol's state, and the task that joins it to a socket and a clock.

use bytes::BytesMut;
use harness::{End, Failure};
use rtc::data_channel::RTCDataChannelId;
use rtc::peer_connection::event::{RTCDataChannelEvent, RTCPeerConnectionEvent};
use rtc::peer_connection::message::{RTCMessage, TaggedRTCMessage};
use rtc::peer_connection::transport::{
    CandidateConfig, CandidateHostConfig, RTCIceCandidate, RTCIceCandidateInit,
};
use rtc::peer_connection::{RTCPeerConnection, RTCPeerConnectionBuilder};
use rtc::sansio::Protocol;
use rtc::shared::{TaggedBytesMut, TransportContext, TransportProtocol};
use socket2::SockRef;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::sync::Notify;

const PACKET: usize = 65536; // more than any packet
const UDP_BUFFER: usize = 4 << 20; // asked for
const BURST: usize = 64; // packets that are read before any is written
const NO_DEADLINE: Duration = Duration::from_secs(3600);

pub struct Peer {
    core: Mutex<RTCPeerConnection>,
    socket: UdpSocket,
    address: SocketAddr,
    written: Notify, // the application has given the core something to send
}

fn hear(end: &End, event: RTCPeerConnectionEvent) {
    match event {
        RTCPeerConnectionEvent::OnDataChannel(RTCDataChannelEvent::OnOpen(_)) => end.opened(),
        RTCPeerConnectionEvent::OnDataChannel(RTCDataChannelEvent::OnBufferedAmountLow(_)) => {
            end.room()
        }
        _ => {}
    }
}

fn read(end: &End, message: TaggedRTCMessage) {
    if let RTCMessage::DataChannelMessage(_, message) = message.message {
        end.message(&message.data);
    }
}

fn host_candidate(address: SocketAddr) -> Result<RTCIceCandidateInit, Failure> {
    let candidate = CandidateHostConfig {
        base_config: CandidateConfig {
            network: "udp".to_owned(),
            address: address.ip().to_string(),
            port: address.port(),
            component: 1,
            ..Default::default()
        },
        ..Default::default()
    };
    Ok(RTCIceCandidate::from(&candidate.new_candidate_host()?).to_json()?)
}

impl Peer {
    /// On 127.0.0.1, with no other candidate.
    pub async fn bind() -> Result<Arc<Peer>, Failure> {
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        SockRef::from(&socket).set_recv_buffer_size(UDP_BUFFER)?;
        let address = socket.local_addr()?;
        let mut core = RTCPeerConnectionBuilder::new().build(Instant::now())?;
        core.add_local_candidate(host_candidate(address)?)?;
        core.add_local_candidate(RTCIceCandidateInit::default())?; // there are no more
        Ok(Arc::new(Peer {
            core: Mutex::new(core),
            socket,
            address,
            written: Notify::new(),
        }))
    }

    /// The core, to be asked. The peer's task waits meanwhile.
    pub fn core(&self) -> MutexGuard<'_, RTCPeerConnection> {
        self.core.lock().expect("no thread has failed with it")
    }

    /// To be called when the core was given something to send.
    pub fn wake(&self) {
        self.written.notify_one();
    }

    pub fn send(&self, channel: RTCDataChannelId, message: &[u8]) -> Result<(), Failure> {
        let message = BytesMut::from(message);
        self.core()
            .data_channel(channel)
            .ok_or("the channel is closed")?
            .send(Instant::now(), message)?;
        self.wake();
        Ok(())
    }

    /// Tells what has happened; takes what is to be sent; says when the core wants to be woken.
    fn turn(&self, end: &End, packets: &mut Vec<TaggedBytesMut>) -> Instant {
        let mut core = self.core();
        while let Some(packet) = core.poll_write() {
            packets.push(packet);
        }
        while let Some(event) = core.poll_event() {
            hear(end, event);
        }
        while let Some(message) = core.poll_read() {
            read(end, message);
        }
        core.poll_timeout()
            .unwrap_or_else(|| Instant::now() + NO_DEADLINE)
    }

    /// Gives the core the packets that have come.
    fn read_burst(&self, buffer: &mut [u8]) -> Result<(), Failure> {
        for _ in 0..BURST {
            let Ok((size, peer_addr)) = self.socket.try_recv_from(buffer) else {
                break;
            };
            let transport = TransportContext {
                local_addr: self.address,
                peer_addr,
                ecn: None,
                transport_protocol: TransportProtocol::UDP,
            };
            let message = BytesMut::from(&buffer[..size]);
            self.core().handle_read(TaggedBytesMut {
                now: Instant::now(),
                transport,
                message,
            })?;
        }
        Ok(())
    }

    /// Runs the peer until it fails or is aborted.
    pub async fn drive(self: Arc<Peer>, end: End) -> Result<(), Failure> {
        let mut buffer = vec![0; PACKET];
        let mut packets = Vec::new();
        loop {
            let deadline = self.turn(&end, &mut packets);
            for packet in packets.drain(..) {
                // What is lost here is sent again.
                let _ = self
                    .socket
                    .send_to(&packet.message, packet.transport.peer_addr)
                    .await;
            }
            if deadline <= Instant::now() {
                self.core().handle_timeout(Instant::now())?;
                continue;
            }
            tokio::select! {
                ready = self.socket.readable() => {
                    ready?;
                    self.read_burst(&mut buffer)?;
                }
                () = self.written.notified() => {}
                () = tokio::time::sleep_until(deadline.into()) => {
                    self.core().handle_timeout(Instant::now())?;
                }
            }
        }
    }
}
