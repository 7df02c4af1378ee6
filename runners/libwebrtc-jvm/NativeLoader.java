package dev.onvoid.webrtc.internal;

/**
 * In place of webrtc-java's own, which unpacks the native library into a new temporary file in every
 * process: here every run loads one file, which stays where it is.
 */
public final class NativeLoader {
    private NativeLoader() {}

    /** Called by name from webrtc-java's classes; loading twice does nothing. */
    public static void loadLibrary(String name) {
        System.loadLibrary(name);
    }
}
