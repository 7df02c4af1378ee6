// Wall and CPU time of this process with all of its threads, and the lines that tell results.

import { accessSync } from "node:fs";
import { GCProfiler, getHeapStatistics } from "node:v8";

/** Since the process began. */
export const nowSeconds = () => performance.now() / 1e3;

export function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** A preloaded library counts what the heap is asked for between the two. */
export function heapWindow(edge) {
  try {
    accessSync(`/abba/window/${edge}`);
  } catch {
    // there is no such file; looking for it was all
  }
}

const v8Used = () => getHeapStatistics().used_heap_size;
let profiler, v8Before;

/** In a memory pass: from here on what V8 allocates on its own heap counts. */
export function v8Begin() {
  if (!process.env.ABBA_HEAP) return;
  profiler = new GCProfiler();
  profiler.start();
  v8Before = v8Used();
}

/** Bytes allocated since, collected or not; nothing in other runs, which this would slow down. */
export function v8End() {
  if (!profiler) return undefined;
  let bytes = v8Used() - v8Before;
  for (const { beforeGC, afterGC } of profiler.stop().statistics)
    bytes += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  profiler = undefined;
  return bytes;
}

const per = (a, b) => (b > 0 ? a / b : 0);

/** r: {repeat, messages, sent, bytes, seconds, cpu, v8} of a repeat, or a phase. */
export function resultLine(r) {
  return `result repeat=${r.repeat} messages=${r.messages} sent=${r.sent}` +
    ` lost=${r.lost ?? 0} bytes=${r.bytes} seconds=${r.seconds.toFixed(6)}` +
    ` messages_per_second=${per(r.messages, r.seconds).toFixed(1)}` +
    ` cpu_seconds=${r.cpu.toFixed(6)} effective_cores=${per(r.cpu, r.seconds).toFixed(6)}` +
    ` cpu_us_per_message=${per(r.cpu * 1e6, r.messages).toFixed(3)}` +
    (r.v8 === undefined ? "" : ` v8_heap_bytes=${r.v8}` +
      ` v8_heap_bytes_per_message=${per(r.v8, r.messages).toFixed(3)}`);
}

export function totalLine() {
  return `total wall=${nowSeconds().toFixed(6)} cpu=${cpuSeconds().toFixed(6)}`;
}
