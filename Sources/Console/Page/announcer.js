// Announcements for screen readers: one polite announcement at most every 10 s.

import { byID, setText } from "./dom.js";

const intervalMilliseconds = 10000;

// The newest waiting announcement of each topic.
const waiting = new Map();
let timer = null;

export function announce(topic, text) {
  waiting.set(topic, text);
  if (timer === null) speak();
}

function speak() {
  timer = null;
  if (waiting.size === 0) return;
  setText(byID("announcer"), [...waiting.values()].join(" "));
  waiting.clear();
  timer = setTimeout(speak, intervalMilliseconds);
}
