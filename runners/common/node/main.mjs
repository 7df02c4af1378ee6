// What every Node harness does around its stack: options, lines, statuses. It alone prints and exits.

import { writeSync } from "node:fs";
import { helpText, parseOptions, UsageError } from "./options.mjs";
import { totalLine } from "./meter.mjs";
import { runShape } from "./shapes.mjs";

const CONNECT_MS = 15000;
const CLOSE_MS = 2000;

// At once: the process ends without flushing anything.
const say = (line) => writeSync(1, `${line}\n`);
const complain = (program, error) => writeSync(2, `${program}: ${error.message ?? error}\n`);

/** The promise, or an error after that time. */
export function within(ms, promise, message) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(message)), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export const connected = (promise) =>
  within(CONNECT_MS, promise, `not connected within ${CONNECT_MS / 1e3} s`);

/**
 * stack: { program, rows, load(options) -> { version, open(...), close() } }; see shapes.mjs for open.
 * Never returns: native threads of the stacks may outlive what they are asked to close.
 */
export async function main(stack) {
  const args = process.argv.slice(2);
  let status = 1;
  try {
    if (args[0] === "--help" || args[0] === "-h") {
      say(helpText(stack.program, stack.rows));
      process.exit(0);
    }
    const options = parseOptions(args, stack.rows);
    const loaded = await stack.load(options);
    say(`stack=${stack.program} ${loaded.version}`);
    say(`delivery=${options.delivery}`);
    say("pacing=events");
    try {
      const intact = await runShape(options, loaded, say);
      say(totalLine());
      say(intact ? "payload=intact" : "payload=damaged");
      status = intact ? 0 : 1;
    } finally {
      await within(CLOSE_MS, Promise.resolve(loaded.close()), "closing takes long").catch(() => {});
    }
  } catch (error) {
    status = error instanceof UsageError ? 2 : 1;
    complain(stack.program, error);
  }
  process.reallyExit(status);
}
