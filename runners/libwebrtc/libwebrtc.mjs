#!/usr/bin/env node
// Messages over the data channels of Google's libwebrtc, through @roamhq/wrtc. libwebrtc uses no
// loopback address: there must be another one, whose packets stay on this machine all the same.

import { createRequire } from "node:module";
import { connected, main } from "./node/main.mjs";

const LOOK_MS = 1;
const require = createRequire(import.meta.url);

const channelInit = ({ delivery }) => ({
  ordered: delivery === "ordered",
  ...(delivery === "unreliable" && { maxRetransmits: 0 }),
});

async function negotiate(a, b) {
  for (const [from, to] of [[a, b], [b, a]])
    from.onicecandidate = ({ candidate }) => candidate && to.addIceCandidate(candidate);
  const offer = await a.createOffer();
  await Promise.all([a.setLocalDescription(offer), b.setRemoteDescription(offer)]);
  const answer = await b.createAnswer();
  await Promise.all([b.setLocalDescription(answer), a.setRemoteDescription(answer)]);
}

/** Two peers of this process, joined by one data channel. */
async function openPair(library, options, onMessage, peers) {
  const a = new library.RTCPeerConnection({ iceServers: [] });
  const b = new library.RTCPeerConnection({ iceServers: [] });
  peers.push(a, b);
  const received = new Promise((resolve) => (b.ondatachannel = ({ channel }) => {
    channel.binaryType = "arraybuffer";
    channel.onmessage = ({ data }) => onMessage(Buffer.from(data));
    peers.push(channel);
    resolve();
  }));
  const channel = a.createDataChannel("abba", channelInit(options));
  const opened = new Promise((resolve) => (channel.onopen = resolve));
  await negotiate(a, b);
  await Promise.all([opened, received]);
  // This binding tells of its buffer only between two turns of the event loop, and has no event for
  // a low mark: what was sent since is counted here.
  let since = 0;
  return {
    send: (bytes) => {
      since += bytes.length;
      channel.send(bytes);
    },
    buffered: () => channel.bufferedAmount + since,
    onLow: (bytes, heard) => setInterval(() => {
      since = 0;
      if (channel.bufferedAmount <= bytes) heard();
    }, LOOK_MS),
  };
}

async function load() {
  const library = require("@roamhq/wrtc");
  const { version } = require("@roamhq/wrtc/package.json");
  const peers = [];
  return {
    version: `(@roamhq/wrtc ${version})`,
    open: (count, options, onMessage) => connected(Promise.all(Array.from({ length: count },
      (_, i) => openPair(library, options, (bytes) => onMessage(i, bytes), peers)))),
    close: () => peers.forEach((peer) => peer.close()),
  };
}

await main({ program: "libwebrtc", rows: {}, load });
