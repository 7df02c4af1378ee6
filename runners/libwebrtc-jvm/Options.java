package abba.libwebrtc;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The command line, the same for every data-channel harness. */
final class Options {
    static final class UsageException extends Exception {
        private static final long serialVersionUID = 1;

        UsageException(String message) {
            super(message);
        }
    }

    private interface Check {
        /** What is allowed, where the text is not; else null. */
        String fault(String text);
    }

    private record Row(Check check, String initial, String help) {}

    private static final long MOST = 1L << 40;
    private static final Map<String, Row> ROWS = new LinkedHashMap<>();

    static {
        row("size", integer(Message.LEAST, 65536), "1000", "bytes in a message");
        row("delivery", choice("ordered", "unordered", "unreliable"), "ordered",
            "ordered, unordered, or unreliable (no retransmission)");
        row("in-flight", integer(1, 1_000_000), "512", "messages that may be under way");
        row("warmup", integer(1, 1_000_000_000), "1000", "messages before the first repeat");
        row("messages", integer(10, 1_000_000_000), "100000", "messages in a repeat");
        row("repeats", integer(1, 1000), "3", "repeats in this process");
        row("limit", Options::secondsFault, "60", "seconds: a repeat that would take longer sends a tenth");
        row("pacing", choice("spin", "yield", "wait"), "yield", "spin, yield or wait, while there is no room");
        row("pairs", integer(1, 1000), "1", "flow: connections");
        row("low", integer(0, 1 << 30), "524288", "flow: buffered bytes at which sending goes on");
        row("high", integer(4096, 1 << 30), "1048576", "flow: buffered bytes at which it stops");
        row("skip", integer(0, MOST), "16777216", "flow: bytes a pair before measuring");
        row("bytes", integer(1, MOST), "50331648", "flow: bytes a pair that are measured");
    }

    final boolean flow;
    private final Map<String, String> values = new LinkedHashMap<>();

    private static void row(String name, Check check, String initial, String help) {
        ROWS.put(name, new Row(check, initial, help));
    }

    private static Check integer(long least, long most) {
        return text -> {
            boolean digits = text.matches("\\d{1,18}");
            long n = digits ? Long.parseLong(text) : 0;
            return digits && n >= least && n <= most ? null : least + " to " + most;
        };
    }

    private static Check choice(String... words) {
        return text -> List.of(words).contains(text) ? null : String.join(", ", words);
    }

    private static String secondsFault(String text) {
        double n = text.matches("\\d{1,9}(\\.\\d{1,9})?") ? Double.parseDouble(text) : 0;
        return n > 0 && n <= 86400 ? null : "seconds, up to 86400";
    }

    Options(String[] args) throws UsageException {
        if (args.length == 0)
            throw new UsageException("no shape: message or flow, see --help");
        if (!args[0].equals("message") && !args[0].equals("flow"))
            throw new UsageException("'" + args[0] + "' is not a shape: message or flow");
        flow = args[0].equals("flow");
        ROWS.forEach((name, row) -> values.put(name, row.initial));
        for (int i = 1; i < args.length; i += 2)
            set(args[i], i + 1 < args.length ? args[i + 1] : null);
        if (number("low") >= number("high"))
            throw new UsageException("--low " + number("low") + " is not below --high " + number("high"));
    }

    private void set(String word, String value) throws UsageException {
        String name = word.startsWith("--") ? word.substring(2) : "";
        Row row = ROWS.get(name);

        if (row == null || value == null)
            throw new UsageException("unknown option, or one without its value: '" + word + "'");
        String allowed = row.check.fault(value);
        if (allowed != null)
            throw new UsageException("'" + value + "' is not a value for --" + name + ": " + allowed);
        values.put(name, value);
    }

    String text(String name) {
        return values.get(name);
    }

    long number(String name) {
        return Long.parseLong(values.get(name));
    }

    double limitSeconds() {
        return Double.parseDouble(values.get("limit"));
    }

    static String help() {
        List<String> lines = new ArrayList<>();
        lines.add("usage: libwebrtc-jvm message|flow [OPTIONS]");
        lines.add("Messages over data channels between two peers in this process.");
        ROWS.forEach((name, row) -> lines.add(String.format("  --%-12s %s", name, row.help)));
        return String.join("\n", lines);
    }
}
