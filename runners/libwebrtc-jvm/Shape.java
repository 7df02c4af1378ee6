package abba.libwebrtc;

/** A way in which messages are sent. */
interface Shape {
    interface Say {
        void line(String text);
    }

    /** Runs it to its end; whether every message was whole, and what delivery promises held. */
    boolean run(Peers peers, Say say) throws Exception;
}
