// Wall and CPU time of this process with all of its threads, and the lines that tell results.

import { accessSync } from "node:fs";

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

const per = (a, b) => (b > 0 ? a / b : 0);

/** r: {repeat, messages, sent, bytes, seconds, cpu} of a repeat, or a phase. */
export function resultLine(r) {
  return `result repeat=${r.repeat} messages=${r.messages} sent=${r.sent}` +
    ` lost=${r.lost ?? 0} bytes=${r.bytes} seconds=${r.seconds.toFixed(6)}` +
    ` messages_per_second=${per(r.messages, r.seconds).toFixed(1)}` +
    ` cpu_seconds=${r.cpu.toFixed(6)} effective_cores=${per(r.cpu, r.seconds).toFixed(3)}` +
    ` cpu_us_per_message=${per(r.cpu * 1e6, r.messages).toFixed(3)}`;
}

export function totalLine() {
  return `total wall=${nowSeconds().toFixed(6)} cpu=${cpuSeconds().toFixed(6)}`;
}
