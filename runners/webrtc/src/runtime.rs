//! Tokio as the stack uses it, with larger receive buffers: a peer's burst is longer than what Linux
//! buffers by default, and what is lost is sent again a second later.

use socket2::SockRef;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use webrtc::runtime::{
    AsyncInterval, AsyncTcpListener, AsyncTcpStream, AsyncUdpSocket, JoinHandle, Runtime,
    TokioRuntime,
};

const UDP_BUFFER: usize = 4 << 20; // asked for

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Debug)]
pub struct LargeBuffers(pub TokioRuntime);

impl Runtime for LargeBuffers {
    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        SockRef::from(&socket).set_recv_buffer_size(UDP_BUFFER)?;
        self.0.wrap_udp_socket(socket)
    }

    // All else as it is.

    fn spawn(&self, future: Task) -> Box<dyn JoinHandle> {
        self.0.spawn(future)
    }

    fn spawn_reactor(&self, pool_size: usize, future: Task) -> Box<dyn JoinHandle> {
        self.0.spawn_reactor(pool_size, future)
    }

    fn wrap_tcp_listener(&self, listener: TcpListener) -> io::Result<Arc<dyn AsyncTcpListener>> {
        self.0.wrap_tcp_listener(listener)
    }

    fn connect_tcp<'a>(
        &'a self,
        remote: SocketAddr,
    ) -> Pin<Box<dyn Future<Output = io::Result<Arc<dyn AsyncTcpStream>>> + Send + 'a>> {
        self.0.connect_tcp(remote)
    }

    fn resolve_host<'a>(
        &'a self,
        host: &'a str,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>> {
        self.0.resolve_host(host)
    }

    fn sleep(&self, duration: Duration) -> Task {
        self.0.sleep(duration)
    }

    fn interval(&self, period: Duration) -> Box<dyn AsyncInterval> {
        self.0.interval(period)
    }

    fn block_on(&self, future: Pin<Box<dyn Future<Output = ()> + '_>>) {
        self.0.block_on(future)
    }

    fn yield_now(&self) -> Task {
        self.0.yield_now()
    }
}
