package abba.libwebrtc;

import dev.onvoid.webrtc.RTCDataChannelBuffer;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** So many messages, so many under way. */
final class MessageShape implements Shape {
    private static final long STALLED_NANOS = 10_000_000_000L; // reliable delivery that stands still is broken
    private static final long LOOK_MILLIS = 50;                // how long who sleeps does not look
    private static final long WRITE_OFF_NANOS = 200_000_000L;  // what has not come by then does not come

    private final Options o;
    private final int size;
    private final boolean ordered, unreliable;
    private final String pacing;
    private final ByteBuffer outgoing;
    private final RTCDataChannelBuffer message;

    // Written by libwebrtc's thread, read by the sender's.
    private final AtomicLong arrived = new AtomicLong();
    private final AtomicLong wakeAt = new AtomicLong(Long.MAX_VALUE); // arrivals at which a sleeper is woken
    private final Semaphore wake = new Semaphore(0);
    private volatile long last;
    private volatile int round = -1;
    private long bytes, next, damaged; // seen by the sender when it has seen `arrived`

    private Peers.Channel channel;
    private long sent, lost;

    MessageShape(Options o) {
        this.o = o;
        size = (int) o.number("size");
        ordered = o.text("delivery").equals("ordered");
        unreliable = o.text("delivery").equals("unreliable");
        pacing = o.text("pacing");
        outgoing = Message.make(size);
        message = new RTCDataChannelBuffer(outgoing, true);
    }

    private void receive(int pair, ByteBuffer b) {
        if (!Message.isWhole(b, size)) {
            damaged++;
            return;
        }
        if (Message.round(b) != round)
            return; // written off in the repeat before
        long sequence = Message.sequence(b);
        if (ordered && sequence != next)
            damaged++;
        next = sequence + 1;
        bytes += size;
        last = System.nanoTime();
        if (arrived.incrementAndGet() >= wakeAt.get())
            wakeSender();
    }

    private void wakeSender() {
        if (wakeAt.getAndSet(Long.MAX_VALUE) != Long.MAX_VALUE)
            wake.release();
    }

    /** Sleeps until so many have arrived, or for a moment in which somebody must look at what stalls. */
    private void sleepUntil(long count) throws InterruptedException {
        wakeAt.set(count); // before the look: an arrival after it is heard of
        if (arrived.get() >= count)
            wakeSender();
        wake.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * A moment while `most` or more are under way. Who sleeps does so until there is room for a quarter
     * of them: to be woken for every message would cost more than the message.
     */
    private void waitForFewer(long most) throws InterruptedException {
        switch (pacing) {
            case "wait" -> sleepUntil(sent - lost - (most - 1 - (most - 1) / 4));
            case "yield" -> Thread.yield();
            default -> Thread.onSpinWait();
        }
    }

    private long underWay() {
        return Math.max(sent - arrived.get() - lost, 0);
    }

    private void awaitFewer(long most) throws InterruptedException {
        long since = System.nanoTime();
        int look = pacing.equals("wait") ? 1 : 1024;
        for (int tries = 1; underWay() >= most; tries++) {
            waitForFewer(most);
            if (tries % look == 0)
                lookAtStall(since);
        }
    }

    /** Now and then: writes off what does not come, or gives up. */
    private void lookAtStall(long since) {
        long idle = System.nanoTime() - Math.max(since, last);
        if (unreliable && idle >= WRITE_OFF_NANOS)
            lost = sent - arrived.get();
        else if (idle >= STALLED_NANOS)
            throw new IllegalStateException("nothing has arrived for 10 s, " + underWay() + " messages are under way");
    }

    private Meter.Result sendAll(int number, long messages) throws Exception {
        arrived.set(0);
        sent = lost = bytes = next = 0;
        Meter begin = Meter.now();
        last = begin.nanos();
        round = number; // what the stack's thread does with it comes after all that stands above
        while (sent < messages) {
            awaitFewer(o.number("in-flight"));
            Message.stamp(outgoing, number, 0, sent++);
            channel.send(message);
        }
        awaitFewer(1);
        Meter end = Meter.now();
        double seconds = Math.max(last - begin.nanos(), 0) / 1e9;
        long came = arrived.get();
        return new Meter.Result(number, came, sent, sent - came, bytes, seconds, begin, end);
    }

    private long calibrate(Meter.Result warmup, Say say) {
        long all = o.number("messages");
        double projected = Meter.per(warmup.seconds(), warmup.messages()) * all;
        if (warmup.messages() > 0 && projected <= o.limitSeconds())
            return all;
        say.line(String.format(Locale.ROOT, "NOTE count lowered to %d: %.1f s projected for %d", all / 10, projected, all));
        return all / 10;
    }

    @Override
    public boolean run(Peers peers, Say say) throws Exception {
        channel = peers.open(1, o.text("delivery"), this::receive).get(0);
        Meter.Result warmup = sendAll(0, o.number("warmup"));
        say.line("ready");
        long messages = calibrate(warmup, say);
        for (int i = 1; i <= o.number("repeats"); i++)
            say.line(sendAll(i, messages).line());
        return damaged == 0;
    }
}
