//! Peers that connect or close too slowly, and messages that no longer come.

use crate::meter::since_birth;
use crate::options::Options;
use crate::stack::{Channel, Events, Failure, Stack};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const CONNECT: Duration = Duration::from_secs(15);
const CLOSE: Duration = Duration::from_secs(2);
const STALLED: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(500);

/// So many pairs, one after the other.
pub async fn open_all<S: Stack>(
    stack: &S,
    options: &Options,
    count: usize,
    events: Arc<dyn Events>,
) -> Result<Vec<Arc<S::Channel>>, Failure> {
    let mut channels = Vec::with_capacity(count);
    for pair in 0..count {
        let opened = timeout(CONNECT, stack.open(options, pair, events.clone())).await;
        let why = match opened {
            Ok(Ok(channel)) => {
                channels.push(Arc::new(channel));
                continue;
            }
            Ok(Err(e)) => e.to_string(),
            Err(_) => format!("not connected within {} s", CONNECT.as_secs()),
        };
        close_all(&channels).await;
        return Err(format!("pair {}: {why}", pair + 1).into());
    }
    Ok(channels)
}

/// Closes them, or leaves them to the end of the process where that takes long.
pub async fn close_all<C: Channel>(channels: &[Arc<C>]) {
    let close = async {
        for channel in channels {
            channel.close().await;
        }
    };
    let _ = timeout(CLOSE, close).await;
}

/// What the work gives, or an error once `arrived` has not grown for too long.
pub async fn unless_stalled<T>(
    work: impl Future<Output = Result<T, Failure>>,
    arrived: impl Fn() -> u64,
) -> Result<T, Failure> {
    let stalled = async {
        let (mut seen, mut since) = (arrived(), since_birth());
        while since_birth() - since < STALLED {
            sleep(LOOK).await;
            let now = arrived();
            if now != seen {
                (seen, since) = (now, since_birth());
            }
        }
        Err(format!("nothing has arrived for {} s", STALLED.as_secs()).into())
    };
    tokio::select! {
        biased;
        done = work => done,
        late = stalled => late,
    }
}
