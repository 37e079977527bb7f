// The actions on requests in wait queues, and on unrouted results.

import * as actions from "./actions.js";
import { button, note } from "./parts.js";
import { offers } from "./session.js";

// The buttons that return the waiting requests of a cause to their request queues: one to try, and all.
export function bringBackButtons(cause) {
  if (!offers("bring_back")) return null;
  const name = `${cause.code}, ${cause.scope}`;
  return [
    button("Bring 1 back…", () => bringBack(cause, 1), { "aria-label": `Bring 1 back: ${name}` }),
    button("Bring all back…", () => bringBack(cause, null), { "aria-label": `Bring all back: ${name}` }),
  ];
}

function bringBack({ code, scope }, max) {
  actions.open({
    action: "bring_back", title: `Bring ${max === 1 ? "1 request" : "all requests"} back: ${code}`,
    confirm: "Bring back", role: "operate", fields: max === 1 ? [] : ["rate"],
    arguments: { code, scope, max, rate_per_second: null },
    note: () => note(max === 1 ? "One waiting request returns to its request queue, and tests the cause."
      : "Repair the cause first. While a breaker is open, workers move the requests to a wait queue again."),
  });
}

// Opens the action that publishes unrouted results again.
export function replay() {
  actions.open({
    action: "replay", title: "Replay unrouted results", confirm: "Replay", role: "operate", fields: ["rate"],
    arguments: { max: null, rate_per_second: null },
    note: () => note("Bind a queue to the exchange of results first. Results without a queue become unrouted again."),
  });
}
