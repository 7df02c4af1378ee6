package abba.libwebrtc;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What a message holds, so that its receiver can tell that it is whole, whose it is and which one:
 * round, pair, sequence; a fill; at the end a mark of the sequence. All little-endian.
 */
final class Message {
    static final int LEAST = 24;
    private static final long MARK = 0x9e3779b97f4a7c15L; // 2^64 over the golden ratio: no text looks like it

    private Message() {}

    /** One to be stamped and sent, again and again: the stack copies it. */
    static ByteBuffer make(int size) {
        ByteBuffer b = ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < size; i++)
            b.put(i, (byte) (i * 167 + 13));
        return b;
    }

    static void stamp(ByteBuffer b, int round, int pair, long sequence) {
        b.putInt(0, round).putInt(4, pair).putLong(8, sequence).putLong(b.capacity() - 8, sequence ^ MARK);
    }

    /** Whether the bytes, in little-endian order, are one whole message of that size. */
    static boolean isWhole(ByteBuffer b, int size) {
        return b.remaining() == size && b.getLong(size - 8) == (sequence(b) ^ MARK);
    }

    static int round(ByteBuffer b) {
        return b.getInt(0);
    }

    static int pair(ByteBuffer b) {
        return b.getInt(4);
    }

    static long sequence(ByteBuffer b) {
        return b.getLong(8);
    }
}
