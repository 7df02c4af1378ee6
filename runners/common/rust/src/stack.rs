//! What a stack is to the shapes, and what it tells them.

use crate::options::{Options, Row};
use std::sync::Arc;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a stack tells while messages travel, on its own threads. One thread at a time calls for a pair.
pub trait Events: Send + Sync + 'static {
    /// A message has arrived at the pair's receiver.
    fn message(&self, pair: usize, bytes: &[u8]);
    /// The pair's send buffer has sunk to [`Options::low`].
    fn room(&self, pair: usize);
}

/// A library of data channels.
pub trait Stack: Send + Sync + 'static {
    const PROGRAM: &'static str;
    type Channel: Channel;

    fn version(&self) -> &'static str;

    /// Options of this stack alone.
    fn rows(&self) -> &'static [Row] {
        &[]
    }

    /// Why the stack cannot run the load, or nothing.
    fn unsupported(&self, _options: &Options) -> Option<String> {
        None
    }

    /// Two peers of this process, joined over 127.0.0.1 by a channel that is open on both sides.
    fn open(
        &self,
        options: &Options,
        pair: usize,
        events: Arc<dyn Events>,
    ) -> impl Future<Output = Result<Self::Channel, Failure>> + Send;
}

/// The sender's end of a pair. It keeps both peers alive.
pub trait Channel: Send + Sync + 'static {
    /// Hands the message over; waits where the stack itself makes a sender wait.
    fn send(&self, message: &[u8]) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Bytes that were handed over and are not yet acknowledged.
    fn buffered(&self) -> impl Future<Output = Result<u64, Failure>> + Send;

    fn close(&self) -> impl Future<Output = ()> + Send;
}
