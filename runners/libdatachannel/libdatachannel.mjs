#!/usr/bin/env node
// Messages over libdatachannel's data channels, through node-datachannel. Two of its versions are
// installed side by side; --binding takes one.

import { connected, main } from "./node/main.mjs";

const BINDINGS = ["0.33.1", "0.33.4"];
const rows = {
  binding: [(text) => {
    if (!BINDINGS.includes(text)) throw BINDINGS.join(", ");
    return text;
  }, BINDINGS.at(-1), `version of node-datachannel: ${BINDINGS.join(" or ")}`],
};

const channelInit = ({ delivery }) => ({
  unordered: delivery !== "ordered",
  ...(delivery === "unreliable" && { maxRetransmits: 0 }),
});

/**
 * Hands on what the ends say of themselves. Candidates wait until both know each other's description:
 * callbacks of two kinds may overtake each other, and an end that is reached while it takes the answer
 * in now and then refuses the other's certificate.
 */
function introduce(a, b) {
  let early = [];
  const tell = (to) => (...candidate) => {
    if (early) early.push([to, candidate]);
    else to.addRemoteCandidate(...candidate);
  };
  a.onLocalDescription((sdp, type) => b.setRemoteDescription(sdp, type));
  b.onLocalDescription((sdp, type) => {
    a.setRemoteDescription(sdp, type);
    early.forEach(([to, candidate]) => to.addRemoteCandidate(...candidate));
    early = null;
  });
  a.onLocalCandidate(tell(b));
  b.onLocalCandidate(tell(a));
}

/** Two peers of this process, joined by one data channel on 127.0.0.1. */
function openPair(library, options, onMessage, peers) {
  const config = { iceServers: [], bindAddress: "127.0.0.1" };
  const a = new library.PeerConnection("sender", config);
  const b = new library.PeerConnection("receiver", config);
  peers.push(a, b);
  introduce(a, b);
  const received = new Promise((resolve) => b.onDataChannel((channel) => {
    channel.onMessage((data) => onMessage(Buffer.from(data.buffer ?? data, data.byteOffset, data.length)));
    peers.push(channel); // kept: it would be collected, and closed
    resolve();
  }));
  const channel = a.createDataChannel("abba", channelInit(options));
  const opened = new Promise((resolve) => channel.onOpen(resolve));
  return Promise.all([opened, received]).then(() => ({
    send: (bytes) => channel.sendMessageBinary(bytes),
    buffered: () => channel.bufferedAmount(),
    onLow: (bytes, heard) => {
      channel.setBufferedAmountLowThreshold(bytes);
      channel.onBufferedAmountLow(heard);
    },
  }));
}

async function load({ binding }) {
  const { default: library } = await import(`node-datachannel-${binding}`);
  const peers = [];
  return {
    version: `${library.getLibraryVersion()} (node-datachannel ${binding})`,
    open: (count, options, onMessage) => connected(Promise.all(Array.from({ length: count },
      (_, i) => openPair(library, options, (bytes) => onMessage(i, bytes), peers)))),
    close: () => peers.forEach((peer) => peer.close()),
  };
}

await main({ program: "libdatachannel", rows, load });
