package abba.libwebrtc;

import dev.onvoid.webrtc.RTCDataChannelBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Pairs whose send buffers are kept between two marks, each by a thread of its own. */
final class FlowShape implements Shape {
    private static final long STALLED_SECONDS = 10;

    private final Options o;
    private final int size;
    private final boolean ordered;
    private final long skip, all, high;
    private final List<Pair> pairs = new ArrayList<>();
    private final CountDownLatch skipped, done;
    private volatile boolean stop;
    private volatile Exception failure;

    private static final class Pair {
        final Semaphore room = new Semaphore(0);
        volatile long bytes, messages, damaged, sent; // each written by one thread
        long next;
        Peers.Channel channel;
    }

    FlowShape(Options o) {
        int count = (int) o.number("pairs");
        this.o = o;
        size = (int) o.number("size");
        ordered = o.text("delivery").equals("ordered");
        skip = o.number("skip");
        all = skip + o.number("bytes");
        high = o.number("high");
        skipped = new CountDownLatch(skip == 0 ? 0 : count);
        done = new CountDownLatch(count);
        for (int i = 0; i < count; i++)
            pairs.add(new Pair());
    }

    private void receive(int i, ByteBuffer b) {
        Pair pair = pairs.get(i);
        boolean whole = Message.isWhole(b, size); // what is not may be too short to be asked more
        long before = pair.bytes, sequence = whole ? Message.sequence(b) : pair.next;
        if (!whole || Message.pair(b) != i || ordered && sequence != pair.next)
            pair.damaged++;
        pair.next = sequence + 1;
        pair.messages++;
        pair.bytes = before + b.remaining();
        if (before < skip && pair.bytes >= skip)
            skipped.countDown();
        if (before < all && pair.bytes >= all)
            done.countDown();
    }

    private void fill(int i) {
        Pair pair = pairs.get(i);
        ByteBuffer outgoing = Message.make(size);
        RTCDataChannelBuffer message = new RTCDataChannelBuffer(outgoing, true);
        try {
            while (!stop) {
                if (pair.channel.buffered() > high) {
                    pair.room.tryAcquire(1, TimeUnit.SECONDS); // and looks again
                    continue;
                }
                Message.stamp(outgoing, 0, i, pair.sent++);
                pair.channel.send(message);
            }
        } catch (Exception e) {
            failure = new IllegalStateException("cannot send a message: " + e.getMessage());
        }
    }

    private record Totals(long bytes, long messages, long sent) {}

    private Totals totals() {
        long bytes = 0, messages = 0, sent = 0;
        for (Pair p : pairs) {
            bytes += p.bytes;
            messages += p.messages;
            sent += p.sent;
        }
        return new Totals(bytes, messages, sent);
    }

    /** Until all pairs are beyond a mark. */
    private Meter.Result phase(int repeat, CountDownLatch beyond) throws Exception {
        Meter begin = Meter.now();
        Totals from = totals();
        long seen = -1, looked = System.nanoTime();
        while (!beyond.await(100, TimeUnit.MILLISECONDS)) {
            if (failure != null)
                throw failure;
            if (System.nanoTime() - looked < TimeUnit.SECONDS.toNanos(STALLED_SECONDS))
                continue;
            if (totals().bytes == seen)
                throw new IllegalStateException("nothing has arrived for " + STALLED_SECONDS + " s");
            seen = totals().bytes;
            looked = System.nanoTime();
        }
        Meter end = Meter.now();
        Totals to = totals();
        return new Meter.Result(repeat, to.messages - from.messages, to.sent - from.sent, 0, to.bytes - from.bytes,
            (end.nanos() - begin.nanos()) / 1e9, begin, end);
    }

    @Override
    public boolean run(Peers peers, Say say) throws Exception {
        List<Peers.Channel> channels = peers.open(pairs.size(), o.text("delivery"), this::receive);
        for (int i = 0; i < pairs.size(); i++) {
            Pair pair = pairs.get(i);
            pair.channel = channels.get(i);
            pair.channel.onLow(o.number("low"), pair.room::release);
        }
        say.line("ready");
        for (int i = 0; i < pairs.size(); i++) {
            int pair = i;
            Thread filler = new Thread(() -> fill(pair), "fill-" + i);
            filler.setDaemon(true);
            filler.start();
        }
        say.line(phase(1, skipped).line());
        Meter.Result r = phase(2, done);
        stop = true;
        say.line(r.line());
        say.line(String.format(Locale.ROOT, "FINAL %.3f Mbit/s aggregate over %d pairs (ordered=%b) in %.3fs",
            Meter.per(r.bytes() * 8 / 1e6, r.seconds()), pairs.size(), ordered, r.seconds()));
        return pairs.stream().allMatch(p -> p.damaged == 0);
    }
}
