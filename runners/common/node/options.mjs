// The command line, the same for every data-channel harness. What a row sets is named in camel case.

export class UsageError extends Error {}

const integer = (least, most) => (text) => {
  const n = Number(text);
  if (!/^\d+$/.test(text) || n < least || n > most) throw `${least} to ${most}`;
  return n;
};
const choice = (...words) => (text) => {
  if (!words.includes(text)) throw words.join(", ");
  return text;
};
const seconds = (text) => {
  const n = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || n <= 0 || n > 86400) throw "seconds, up to 86400";
  return n;
};

const MOST = 2 ** 40;
const rows = {
  size: [integer(24, 65536), "1000", "bytes in a message"],
  delivery: [choice("ordered", "unordered", "unreliable"), "ordered",
    "ordered, unordered, or unreliable (no retransmission)"],
  "in-flight": [integer(1, 1e6), "512", "messages that may be under way"],
  warmup: [integer(1, 1e9), "1000", "messages before the first repeat"],
  messages: [integer(10, 1e9), "100000", "messages in a repeat"],
  repeats: [integer(1, 1000), "3", "repeats in this process"],
  limit: [seconds, "60", "seconds: a repeat that would take longer sends a tenth"],
  pacing: [choice("spin", "yield", "wait"), "yield", "taken as it is: one thread waits for events either way"],
  pairs: [integer(1, 1000), "1", "flow: connections"],
  low: [integer(0, 2 ** 30), "524288", "flow: buffered bytes at which sending goes on"],
  high: [integer(4096, 2 ** 30), "1048576", "flow: buffered bytes at which it stops"],
  skip: [integer(0, MOST), "16777216", "flow: bytes a pair before measuring"],
  bytes: [integer(1, MOST), "50331648", "flow: bytes a pair that are measured"],
};

const camel = (name) => name.replace(/-(.)/g, (_, c) => c.toUpperCase());

/** The options after the program's name; `more` are rows of one stack. Throws UsageError. */
export function parseOptions(args, more = {}) {
  const known = { ...rows, ...more };
  const [shape, ...rest] = args;
  if (shape === undefined) throw new UsageError("no shape: message or flow, see --help");
  if (shape !== "message" && shape !== "flow")
    throw new UsageError(`'${shape}' is not a shape: message or flow`);
  const o = { flow: shape === "flow" };
  for (const [name, [take, initial]] of Object.entries(known)) o[camel(name)] = take(initial);
  for (let i = 0; i < rest.length; i += 2) {
    const name = rest[i].replace(/^--/, "");
    if (!rest[i].startsWith("--") || !(name in known) || i + 1 === rest.length)
      throw new UsageError(`unknown option, or one without its value: '${rest[i]}'`);
    try {
      o[camel(name)] = known[name][0](rest[i + 1]);
    } catch (allowed) {
      throw new UsageError(`'${rest[i + 1]}' is not a value for --${name}: ${allowed}`);
    }
  }
  if (o.low >= o.high) throw new UsageError(`--low ${o.low} is not below --high ${o.high}`);
  return o;
}

export function helpText(program, more = {}) {
  const lines = Object.entries({ ...rows, ...more })
    .map(([name, [, , help]]) => `  --${name.padEnd(12)} ${help}`);
  return [`usage: ${program} message|flow [OPTIONS]`,
    "Messages over data channels between two peers in this process.", ...lines].join("\n");
}
