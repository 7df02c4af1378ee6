package abba.libwebrtc;

import dev.onvoid.webrtc.RTCPeerConnection;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;

/** Messages over the data channels of Google's libwebrtc, through webrtc-java. It alone prints and exits. */
final class Main {
    private static final long CLOSE_MILLIS = 2000;

    private static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true);

    private Main() {}

    private static int complain(String message, int status) {
        System.err.println("libwebrtc-jvm: " + message);
        return status;
    }

    /** Closes in time, or leaves it to the end of the process. */
    private static void closeInTime(Peers peers) throws InterruptedException {
        Thread closing = new Thread(peers::close, "close");
        closing.setDaemon(true);
        closing.start();
        closing.join(CLOSE_MILLIS);
    }

    private static int run(Options o) throws Exception {
        String version = RTCPeerConnection.class.getProtectionDomain().getCodeSource().getLocation().getPath()
            .replaceAll(".*webrtc-java-|\\.jar$", "");
        OUT.println("stack=libwebrtc-jvm (webrtc-java " + version + ")");
        OUT.println("delivery=" + o.text("delivery"));
        OUT.println("pacing=" + o.text("pacing"));
        Peers peers = new Peers();
        boolean intact;
        try {
            intact = (o.flow ? new FlowShape(o) : new MessageShape(o)).run(peers, OUT::println);
        } finally {
            closeInTime(peers);
        }
        OUT.println(Meter.totalLine());
        OUT.println(intact ? "payload=intact" : "payload=damaged");
        return intact ? 0 : 1;
    }

    public static void main(String[] args) {
        int status;
        try {
            if (args.length > 0 && (args[0].equals("--help") || args[0].equals("-h"))) {
                OUT.println(Options.help());
                status = 0;
            } else {
                status = run(new Options(args));
            }
        } catch (Options.UsageException e) {
            status = complain(e.getMessage(), 2);
        } catch (Exception | LinkageError e) {
            status = complain(e.getMessage() == null ? e.toString() : e.getMessage(), 1);
        }
        Runtime.getRuntime().halt(status); // threads of the stack may outlive what they are asked to close
    }
}
