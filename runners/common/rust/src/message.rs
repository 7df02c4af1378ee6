//! What a message holds, so that its receiver can tell that it is whole, whose it is and which one:
//! round, pair, sequence; a fill; at the end a mark of the sequence. All little-endian.

pub const LEAST: usize = 24;
pub const MOST: usize = 65536;

const MARK: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 over the golden ratio: no text looks like it

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Id {
    pub round: u32,
    pub pair: u32,
    pub sequence: u64,
}

pub fn new(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 167 + 13) as u8).collect()
}

pub fn stamp(bytes: &mut [u8], id: Id) {
    let end = bytes.len() - 8;
    bytes[0..4].copy_from_slice(&id.round.to_le_bytes());
    bytes[4..8].copy_from_slice(&id.pair.to_le_bytes());
    bytes[8..16].copy_from_slice(&id.sequence.to_le_bytes());
    bytes[end..].copy_from_slice(&(id.sequence ^ MARK).to_le_bytes());
}

/// Which message it is, if the bytes are one whole message of that size.
pub fn read(bytes: &[u8], size: usize) -> Option<Id> {
    if bytes.len() != size || size < LEAST {
        return None;
    }
    let (round, rest) = bytes.split_first_chunk()?;
    let (pair, rest) = rest.split_first_chunk()?;
    let (sequence, rest) = rest.split_first_chunk()?;
    let id = Id {
        round: u32::from_le_bytes(*round),
        pair: u32::from_le_bytes(*pair),
        sequence: u64::from_le_bytes(*sequence),
    };
    (u64::from_le_bytes(*rest.last_chunk()?) == id.sequence ^ MARK).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Id = Id {
        round: 3,
        pair: 7,
        sequence: 1 << 40,
    };

    #[test]
    fn a_stamped_message_is_read_back() {
        for size in [LEAST, 1000, MOST] {
            let mut bytes = new(size);
            stamp(&mut bytes, ID);
            assert_eq!(read(&bytes, size), Some(ID));
        }
    }

    #[test]
    fn a_message_that_is_not_whole_is_told() {
        let mut bytes = new(100);
        stamp(&mut bytes, ID);
        assert_eq!(read(&bytes[..99], 100), None);
        assert_eq!(read(&bytes, 101), None);
        bytes[9] ^= 1;
        assert_eq!(read(&bytes, 100), None);
    }
}
