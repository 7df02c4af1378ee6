package abba.libwebrtc;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * What the process has used up to a moment, and the lines that tell results. CPU time is of all its
 * threads, in the steps of the kernel's clock ticks. Allocated bytes are of the threads that live: the
 * stack's threads stay attached to the virtual machine.
 */
record Meter(long nanos, long cpuNanos, long heapBytes) {
    private static final double USER_HZ = 100; // what the kernel shows as ticks, whatever its own are
    private static final OperatingSystemMXBean SYSTEM =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    static Meter now() {
        return new Meter(System.nanoTime(), SYSTEM.getProcessCpuTime(), allocated());
    }

    private static long allocated() {
        long sum = 0;
        for (long bytes : THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds()))
            sum += Math.max(bytes, 0); // -1: it ended meanwhile
        return sum;
    }

    /** A repeat, or a phase; messages and bytes are what arrived. */
    record Result(long repeat, long messages, long sent, long lost, long bytes, double seconds, Meter begin, Meter end) {
        String line() {
            double cpu = (end.cpuNanos - begin.cpuNanos) / 1e9;
            return String.format(Locale.ROOT, "result repeat=%d messages=%d sent=%d lost=%d bytes=%d seconds=%.6f"
                    + " messages_per_second=%.1f cpu_seconds=%.6f effective_cores=%.6f cpu_us_per_message=%.3f"
                    + " heap_bytes=%d",
                repeat, messages, sent, lost, bytes, seconds, per(messages, seconds), cpu,
                per(cpu, seconds), per(cpu * 1e6, messages), end.heapBytes - begin.heapBytes);
        }
    }

    static double per(double a, double b) {
        return b > 0 ? a / b : 0;
    }

    /** Since the process began, which is before the virtual machine did: proc(5), field 22 of stat. */
    private static double ageSeconds() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat")), uptime = Files.readString(Path.of("/proc/uptime"));
        String[] behindName = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Double.parseDouble(uptime.split(" ")[0]) - Long.parseLong(behindName[19]) / USER_HZ;
    }

    static String totalLine() throws IOException {
        double wall = ageSeconds();
        return String.format(Locale.ROOT, "total wall=%.6f cpu=%.6f", wall, SYSTEM.getProcessCpuTime() / 1e9);
    }
}
