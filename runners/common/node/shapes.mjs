// The two ways in which messages are sent. A stack gives peers:
//   open(count, options, onMessage(pair, Buffer)) -> [{ send(Buffer), buffered(), onLow(bytes, f) }]

import { readMessage, newMessage, stamp } from "./message.mjs";
import { cpuSeconds, heapWindow, nowSeconds, resultLine, v8Begin, v8End } from "./meter.mjs";

const STALLED_S = 10; // reliable delivery that stands still is broken
const WRITE_OFF_S = 0.2; // what has not come by then does not come
const LOOK_MS = 50;

/** So many messages, so many under way. */
class MessageShape {
  constructor(options, say) {
    Object.assign(this, { o: options, say, round: -1, damaged: 0 });
    this.outgoing = newMessage(options.size);
  }

  onMessage(b) {
    const id = readMessage(b, this.o.size);
    if (id === null) {
      this.damaged++;
      return;
    }
    if (id.round !== this.round) return; // written off in the repeat before
    if (this.o.delivery === "ordered" && id.sequence !== this.next) this.damaged++;
    this.next = id.sequence + 1;
    this.last = nowSeconds();
    this.bytes += b.length;
    this.arrived++;
    this.pump();
  }

  /** Sends what there is room for; ends the repeat when all is there. */
  pump() {
    try {
      while (this.sent < this.messages && this.sent - this.arrived - this.lost < this.o.inFlight) {
        stamp(this.outgoing, this.round, 0, this.sent++);
        this.channel.send(this.outgoing);
      }
    } catch (error) {
      this.reject(new Error(`cannot send a message: ${error.message ?? error}`));
      return;
    }
    if (this.sent === this.messages && this.arrived + this.lost >= this.sent) this.resolve();
  }

  /** Now and then: writes off what does not come, or gives up. */
  look() {
    const idle = nowSeconds() - this.last;
    if (this.o.delivery === "unreliable" && idle >= WRITE_OFF_S) {
      this.lost = this.sent - this.arrived;
      this.pump();
    } else if (idle >= STALLED_S) {
      this.reject(new Error(`nothing has arrived for ${STALLED_S} s,` +
        ` ${this.sent - this.arrived} messages are under way`));
    }
  }

  async sendAll(round, messages) {
    Object.assign(this, { round, messages, sent: 0, arrived: 0, lost: 0, bytes: 0, next: 0 });
    const begun = (this.last = nowSeconds()), cpu = cpuSeconds();
    const watch = setInterval(() => this.look(), LOOK_MS);
    try {
      await new Promise((resolve, reject) => {
        Object.assign(this, { resolve, reject });
        this.pump();
      });
    } finally {
      clearInterval(watch);
    }
    return { repeat: round, messages: this.arrived, sent: this.sent, lost: this.sent - this.arrived,
      bytes: this.bytes, seconds: this.last - begun, cpu: cpuSeconds() - cpu };
  }

  calibrate(warmup) {
    const projected = warmup.messages ? warmup.seconds / warmup.messages * this.o.messages : 0;
    if (warmup.messages && projected <= this.o.limit) return this.o.messages;
    const fewer = Math.floor(this.o.messages / 10);
    this.say(`NOTE count lowered to ${fewer}: ${projected.toFixed(1)} s projected for ${this.o.messages}`);
    return fewer;
  }

  async run(stack) {
    [this.channel] = await stack.open(1, this.o, (_, b) => this.onMessage(b));
    const warmup = await this.sendAll(0, this.o.warmup);
    this.say("ready");
    const messages = this.calibrate(warmup);
    for (let i = 1; i <= this.o.repeats; i++) {
      v8Begin();
      heapWindow("begin");
      const r = await this.sendAll(i, messages);
      heapWindow("end");
      r.v8 = v8End();
      this.say(resultLine(r));
    }
    return this.damaged === 0;
  }
}

/** Pairs whose buffers are kept full. */
class FlowShape {
  constructor(options, say) {
    Object.assign(this, { o: options, say, damaged: 0, arrived: 0, sent: 0, bytes: 0, ended: false });
    this.pairs = Array.from({ length: options.pairs }, () => ({ bytes: 0, next: 0, sent: 0 }));
    this.outgoing = newMessage(options.size);
    this.beyond = [options.skip, options.skip + options.bytes].map((mark) => {
      const b = { mark, left: options.pairs };
      b.reached = new Promise((resolve) => (b.resolve = resolve));
      if (mark === 0) b.resolve();
      return b;
    });
    this.failed = new Promise((_, reject) => (this.reject = reject));
    this.failed.catch(() => {});
  }

  onMessage(i, b) {
    const pair = this.pairs[i], id = readMessage(b, this.o.size), before = pair.bytes;
    if (id === null || id.pair !== i || (this.o.delivery === "ordered" && id.sequence !== pair.next))
      this.damaged++;
    pair.next = (id?.sequence ?? pair.next) + 1;
    pair.bytes += b.length;
    this.bytes += b.length;
    this.arrived++;
    for (const at of this.beyond)
      if (before < at.mark && pair.bytes >= at.mark && --at.left === 0) at.resolve();
  }

  fill(i) {
    const pair = this.pairs[i];
    try {
      while (!this.ended && pair.channel.buffered() <= this.o.high) {
        stamp(this.outgoing, 0, i, pair.sent++);
        pair.channel.send(this.outgoing);
        this.sent++;
      }
    } catch (error) {
      this.reject(new Error(`cannot send a message: ${error.message ?? error}`));
    }
  }

  async phase(repeat, beyond) {
    v8Begin();
    heapWindow("begin");
    const from = { bytes: this.bytes, messages: this.arrived, sent: this.sent };
    const begun = nowSeconds(), cpu = cpuSeconds();
    let seen = -1;
    const watch = setInterval(() => {
      if (this.bytes === seen) this.reject(new Error(`nothing has arrived for ${STALLED_S} s`));
      seen = this.bytes;
    }, STALLED_S * 1e3);
    try {
      await Promise.race([beyond.reached, this.failed]);
    } finally {
      clearInterval(watch);
    }
    const r = { repeat, bytes: this.bytes - from.bytes, messages: this.arrived - from.messages,
      sent: this.sent - from.sent, seconds: nowSeconds() - begun, cpu: cpuSeconds() - cpu };
    heapWindow("end");
    r.v8 = v8End();
    this.say(resultLine(r));
    return r;
  }

  async run(stack) {
    const channels = await stack.open(this.o.pairs, this.o, (i, b) => this.onMessage(i, b));
    channels.forEach((channel, i) => {
      this.pairs[i].channel = channel;
      channel.onLow(this.o.low, () => this.fill(i));
    });
    this.say("ready");
    this.pairs.forEach((_, i) => this.fill(i));
    await this.phase(1, this.beyond[0]);
    const r = await this.phase(2, this.beyond[1]);
    this.ended = true;
    this.say(`FINAL ${(r.bytes * 8 / 1e6 / r.seconds).toFixed(3)} Mbit/s aggregate over` +
      ` ${this.o.pairs} pairs (ordered=${this.o.delivery === "ordered"}) in ${r.seconds.toFixed(3)}s`);
    return this.damaged === 0;
  }
}

/** Runs the shape that the options name; whether every message was whole. */
export function runShape(options, stack, say) {
  const Shape = options.flow ? FlowShape : MessageShape;
  return new Shape(options, say).run(stack);
}
