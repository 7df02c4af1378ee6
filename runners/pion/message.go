package main

import "encoding/binary"

// What a message holds, so that its receiver can tell that it is whole, whose it is and which one:
// round, pair, sequence; a fill; at the end a mark of the sequence. All little-endian.
type messageID struct {
	round, pair uint32
	sequence    uint64
}

const mark = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: no text looks like it

func newMessage(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*167 + 13)
	}
	return b
}

func stamp(b []byte, id messageID) {
	binary.LittleEndian.PutUint32(b, id.round)
	binary.LittleEndian.PutUint32(b[4:], id.pair)
	binary.LittleEndian.PutUint64(b[8:], id.sequence)
	binary.LittleEndian.PutUint64(b[len(b)-8:], id.sequence^mark)
}

// readMessage tells whether the bytes are one whole message of that size, and which.
func readMessage(b []byte, size int) (messageID, bool) {
	if len(b) != size || size < messageLeast {
		return messageID{}, false
	}
	id := messageID{
		binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]),
		binary.LittleEndian.Uint64(b[8:]),
	}
	return id, binary.LittleEndian.Uint64(b[size-8:]) == id.sequence^mark
}
