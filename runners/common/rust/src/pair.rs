//! The two ends of a pair: whom they tell what happens, and that the channel is open at both.

use crate::stack::{Events, Failure};
use std::sync::Arc;
use tokio::sync::mpsc;

/// What a stack's callbacks and tasks of one end tell.
#[derive(Clone)]
pub struct End {
    pair: usize,
    events: Arc<dyn Events>,
    opened: mpsc::Sender<()>,
}

impl End {
    /// The channel is open at this end.
    pub fn opened(&self) {
        let _ = self.opened.try_send(());
    }

    pub fn message(&self, bytes: &[u8]) {
        self.events.message(self.pair, bytes);
    }

    pub fn room(&self) {
        self.events.room(self.pair);
    }
}

/// Hears of both ends.
pub struct BothOpen(mpsc::Receiver<()>);

impl BothOpen {
    /// Waits until the channel is open at both ends. Fails with `gone` if nobody is left to say so.
    pub async fn wait(mut self, gone: &'static str) -> Result<(), Failure> {
        for _ in 0..2 {
            self.0.recv().await.ok_or(gone)?;
        }
        Ok(())
    }
}

/// The sender's end, the receiver's, and what hears of both.
pub fn ends(pair: usize, events: Arc<dyn Events>) -> (End, End, BothOpen) {
    let (opened, both) = mpsc::channel(2);
    let end = End {
        pair,
        events,
        opened,
    };
    (end.clone(), end, BothOpen(both))
}
