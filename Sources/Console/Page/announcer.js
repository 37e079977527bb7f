// Announcements for screen readers: one polite announcement at most every 10 s. An open dialog hides the rest of the
// page from screen readers, so each dialog has a place of its own for announcements.

import { setText } from "./dom.js";

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
  const text = [...waiting.values()].join(" ");
  waiting.clear();
  const audible = document.querySelector("dialog[open] .announcer") ?? document.querySelector(".announcer");
  for (const place of document.querySelectorAll(".announcer")) setText(place, place === audible ? text : "");
  timer = setTimeout(speak, intervalMilliseconds);
}
