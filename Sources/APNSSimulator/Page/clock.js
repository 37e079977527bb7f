// The simulator's clock, and the reset.

import { call } from "./api.js";
import { byID, setText } from "./dom.js";
import { attempt } from "./outcome.js";
import { duration, timeOfDay } from "./words.js";

let offsetSeconds = 0;

export const now = () => Date.now() + offsetSeconds * 1000;

// Calls `changed` after each change.
export function start(changed) {
  const set = async (seconds) => {
    await attempt(byID("clock-outcome"), async () => {
      await call("PUT", "/v1/clock", { offset_seconds: seconds });
      byID("clock-offset").value = String(seconds);
      return seconds === 0 ? "The clock is correct." : `The clock is ${inWords(seconds)}.`;
    });
    await changed();
  };
  byID("clock-form").addEventListener("submit", (event) => {
    event.preventDefault();
    set(Number(byID("clock-offset").value));
  });
  for (const button of document.querySelectorAll("[data-offset]")) {
    button.addEventListener("click", () => set(Number(button.dataset.offset)));
  }
  byID("reset").addEventListener("click", async () => {
    await attempt(byID("outcome"), async () => {
      const keeps = byID("reset-keep").checked;
      await call("POST", keeps ? "/v1/reset?keep=state" : "/v1/reset");
      byID("clock-offset").value = "0";
      return `The simulator is reset${keeps ? ", except its state" : ""}.`;
    });
    await changed();
  });
  setInterval(tick, 1000);
}

const inWords = (seconds) => (seconds < 0 ? `${duration(-seconds)} behind` : `${duration(seconds)} ahead`);

export function draw(clock) {
  const offset = clock.offset_seconds ?? 0;
  const field = byID("clock-offset");
  if (offset !== offsetSeconds && document.activeElement !== field) field.value = String(offset);
  offsetSeconds = offset;
  tick();
}

function tick() {
  const state = offsetSeconds === 0 ? "correct" : inWords(offsetSeconds);
  setText(byID("clock-reading"), `${timeOfDay(now())}, ${state}`);
}
