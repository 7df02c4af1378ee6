package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

var birth = time.Now()

// meter is what the process has used up to a moment.
type meter struct {
	at         time.Time
	cpu        time.Duration
	heapBytes  uint64
	heapAllocs uint64
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// now reads the clock last: reading the heap's counters stops the world for a moment.
func now() meter {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return meter{heapBytes: m.TotalAlloc, heapAllocs: m.Mallocs, cpu: cpuTime(), at: time.Now()}
}

// result is a repeat, or a phase; messages and bytes are what arrived.
type result struct {
	repeat                      int
	messages, sent, lost, bytes uint64
	elapsed                     time.Duration
	begin, end                  meter
}

func rate(count float64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return count / seconds
}

func (r *result) print() {
	seconds, cpu := r.elapsed.Seconds(), (r.end.cpu - r.begin.cpu).Seconds()
	fmt.Printf("result repeat=%d messages=%d sent=%d lost=%d bytes=%d seconds=%.6f"+
		" messages_per_second=%.1f cpu_seconds=%.6f effective_cores=%.6f cpu_us_per_message=%.3f"+
		" heap_bytes=%d heap_calls=%d\n",
		r.repeat, r.messages, r.sent, r.lost, r.bytes, seconds,
		rate(float64(r.messages), seconds), cpu, rate(cpu, seconds),
		rate(cpu*1e6, float64(r.messages)),
		r.end.heapBytes-r.begin.heapBytes, r.end.heapAllocs-r.begin.heapAllocs)
}

func printTotal() {
	fmt.Printf("total wall=%.6f cpu=%.6f\n", time.Since(birth).Seconds(), cpuTime().Seconds())
}

func complain(status int, err error) {
	fmt.Fprintf(os.Stderr, "pion: %v\n", err)
	os.Exit(status)
}
