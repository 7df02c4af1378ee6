// What a message holds, so that its receiver can tell that it is whole, whose it is and which one:
// round, pair, sequence; a fill; at the end a mark of the sequence. All little-endian.

const MARK = [0x7f4a7c15, 0x9e3779b9]; // 2^64 over the golden ratio, low half first
const TWO32 = 2 ** 32;

export function newMessage(size) {
  const b = Buffer.alloc(size);
  for (let i = 0; i < size; i++) b[i] = (i * 167 + 13) & 255;
  return b;
}

export function stamp(b, round, pair, sequence) {
  const low = sequence % TWO32, high = Math.floor(sequence / TWO32);
  b.writeUInt32LE(round, 0);
  b.writeUInt32LE(pair, 4);
  b.writeUInt32LE(low, 8);
  b.writeUInt32LE(high, 12);
  b.writeUInt32LE((low ^ MARK[0]) >>> 0, b.length - 8);
  b.writeUInt32LE((high ^ MARK[1]) >>> 0, b.length - 4);
}

/** {round, pair, sequence}, or null if the bytes are no whole message of that size. */
export function readMessage(b, size) {
  if (b.length !== size) return null;
  const low = b.readUInt32LE(8), high = b.readUInt32LE(12);
  if (b.readUInt32LE(size - 8) !== ((low ^ MARK[0]) >>> 0) ||
      b.readUInt32LE(size - 4) !== ((high ^ MARK[1]) >>> 0)) return null;
  return { round: b.readUInt32LE(0), pair: b.readUInt32LE(4), sequence: high * TWO32 + low };
}
