package abba.libwebrtc;

import dev.onvoid.webrtc.CreateSessionDescriptionObserver;
import dev.onvoid.webrtc.PeerConnectionFactory;
import dev.onvoid.webrtc.PeerConnectionObserver;
import dev.onvoid.webrtc.RTCAnswerOptions;
import dev.onvoid.webrtc.RTCConfiguration;
import dev.onvoid.webrtc.RTCDataChannel;
import dev.onvoid.webrtc.RTCDataChannelBuffer;
import dev.onvoid.webrtc.RTCDataChannelInit;
import dev.onvoid.webrtc.RTCDataChannelObserver;
import dev.onvoid.webrtc.RTCDataChannelState;
import dev.onvoid.webrtc.RTCIceCandidate;
import dev.onvoid.webrtc.RTCIceGatheringState;
import dev.onvoid.webrtc.RTCOfferOptions;
import dev.onvoid.webrtc.RTCPeerConnection;
import dev.onvoid.webrtc.RTCSessionDescription;
import dev.onvoid.webrtc.SetSessionDescriptionObserver;
import dev.onvoid.webrtc.media.audio.AudioDeviceModule;
import dev.onvoid.webrtc.media.audio.AudioLayer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Pairs of peers of this process, each joined by one data channel. Callbacks come on libwebrtc's threads. */
final class Peers {
    interface Receiver {
        /** The bytes are lent for the time of the call, in little-endian order. */
        void receive(int pair, ByteBuffer bytes);
    }

    private static final long CONNECT_SECONDS = 15;

    private final PeerConnectionFactory factory =
        new PeerConnectionFactory(new AudioDeviceModule(AudioLayer.kDummyAudio)); // no sound, no sound server
    private final List<Peer> peers = new ArrayList<>();
    private final List<Channel> channels = new ArrayList<>();

    /** One end: what it heard of itself. */
    private static final class Peer implements PeerConnectionObserver {
        final CompletableFuture<Void> gathered = new CompletableFuture<>();
        final CompletableFuture<RTCDataChannel> offered = new CompletableFuture<>();
        RTCPeerConnection connection;

        @Override
        public void onIceCandidate(RTCIceCandidate candidate) {
            // candidates travel inside the descriptions
        }

        @Override
        public void onIceGatheringChange(RTCIceGatheringState state) {
            if (state == RTCIceGatheringState.COMPLETE)
                gathered.complete(null);
        }

        @Override
        public void onDataChannel(RTCDataChannel channel) {
            offered.complete(channel);
        }
    }

    /** A channel's sending end. */
    static final class Channel implements RTCDataChannelObserver {
        private final RTCDataChannel channel;
        private final CompletableFuture<Void> opened = new CompletableFuture<>();
        private volatile Runnable onLow = () -> {};
        private volatile long low;

        Channel(RTCDataChannel channel) {
            this.channel = channel;
            channel.registerObserver(this);
            onStateChange();
        }

        void send(RTCDataChannelBuffer message) throws Exception {
            channel.send(message);
        }

        long buffered() {
            return channel.getBufferedAmount();
        }

        /** Calls when the buffered bytes have sunk to the mark. */
        void onLow(long mark, Runnable heard) {
            low = mark;
            onLow = heard;
        }

        @Override
        public void onBufferedAmountChange(long before) {
            if (before > low && channel.getBufferedAmount() <= low)
                onLow.run();
        }

        @Override
        public void onStateChange() {
            if (channel.getState() == RTCDataChannelState.OPEN)
                opened.complete(null);
        }

        @Override
        public void onMessage(RTCDataChannelBuffer message) {
            // nothing is sent this way
        }
    }

    /** A channel's receiving end. */
    private record Listener(Consumer<ByteBuffer> receiver) implements RTCDataChannelObserver {
        @Override
        public void onBufferedAmountChange(long before) {
            // it sends nothing
        }

        @Override
        public void onStateChange() {
            // the sender waits for it
        }

        @Override
        public void onMessage(RTCDataChannelBuffer message) {
            receiver.accept(message.data.order(ByteOrder.LITTLE_ENDIAN));
        }
    }

    private static RTCDataChannelInit channelInit(String delivery) {
        RTCDataChannelInit init = new RTCDataChannelInit();
        init.ordered = delivery.equals("ordered");
        if (delivery.equals("unreliable"))
            init.maxRetransmits = 0;
        return init;
    }

    private static CreateSessionDescriptionObserver made(CompletableFuture<RTCSessionDescription> future) {
        return new CreateSessionDescriptionObserver() {
            @Override
            public void onSuccess(RTCSessionDescription description) {
                future.complete(description);
            }

            @Override
            public void onFailure(String error) {
                future.completeExceptionally(new IllegalStateException(error));
            }
        };
    }

    private static SetSessionDescriptionObserver set(CompletableFuture<Void> future) {
        return new SetSessionDescriptionObserver() {
            @Override
            public void onSuccess() {
                future.complete(null);
            }

            @Override
            public void onFailure(String error) {
                future.completeExceptionally(new IllegalStateException(error));
            }
        };
    }

    private static <T> T await(CompletableFuture<T> future) throws Exception {
        try {
            return future.get(CONNECT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException("not connected within " + CONNECT_SECONDS + " s");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private Peer newPeer() {
        Peer peer = new Peer();
        peer.connection = factory.createPeerConnection(new RTCConfiguration(), peer);
        peers.add(peer);
        return peer;
    }

    /** Sets a description on the peer that made it, waits for its candidates, and on the other one. */
    private static void pass(RTCSessionDescription description, Peer from, Peer to) throws Exception {
        CompletableFuture<Void> local = new CompletableFuture<>(), remote = new CompletableFuture<>();

        from.connection.setLocalDescription(description, set(local));
        await(local);
        await(from.gathered);
        to.connection.setRemoteDescription(from.connection.getLocalDescription(), set(remote));
        await(remote);
    }

    private Channel openPair(String delivery, Consumer<ByteBuffer> receiver) throws Exception {
        Peer a = newPeer(), b = newPeer();
        Channel channel = new Channel(a.connection.createDataChannel("abba", channelInit(delivery)));
        CompletableFuture<RTCSessionDescription> offer = new CompletableFuture<>(), answer = new CompletableFuture<>();

        a.connection.createOffer(new RTCOfferOptions(), made(offer));
        pass(await(offer), a, b);
        b.connection.createAnswer(new RTCAnswerOptions(), made(answer));
        pass(await(answer), b, a);
        await(b.offered).registerObserver(new Listener(receiver));
        await(channel.opened);
        return channel;
    }

    List<Channel> open(int count, String delivery, Receiver receiver) throws Exception {
        for (int i = 0; i < count; i++) {
            int pair = i;
            channels.add(openPair(delivery, bytes -> receiver.receive(pair, bytes)));
        }
        return channels;
    }

    void close() {
        peers.forEach(peer -> peer.connection.close());
        factory.dispose();
    }
}
