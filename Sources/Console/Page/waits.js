// The actions on requests in wait queues, and on unrouted results.

import * as actions from "./actions.js";
import { button, note } from "./parts.js";
import { offers } from "./session.js";
import { someOf } from "./words.js";

const appsShownMax = 10;
// Maximum number of apps that a worker reports for a cause.
const reportedAppsMax = 10;

const partPattern = /^(key|certificate|topic) ./s;

// Returns the apps whose requests a cause holds; null for all apps. The cause of an endpoint concerns all apps, and
// earlier workers do not report the apps of a cause.
const appsOf = ({ scope, apps = [] }) => (partPattern.test(scope) && apps.length > 0 ? apps : null);

// The buttons that return the waiting requests of a cause to their request queues: one to try, and all.
export function bringBackButtons(cause) {
  if (!offers("bring_back")) return null;
  const name = `${cause.code}, ${cause.scope}`;
  return [
    button("Bring 1 back…", () => bringBack(cause, 1), { "aria-label": `Bring 1 back: ${name}` }),
    button("Bring all back…", () => bringBack(cause, null), { "aria-label": `Bring all back: ${name}` }),
  ];
}

function bringBack(cause, max) {
  const { code } = cause;
  const apps = appsOf(cause);
  actions.open({
    action: "bring_back", title: `Bring ${max === 1 ? "1 request" : "all requests"} back: ${code}`,
    confirm: "Bring back", role: "operate", fields: max === 1 ? [] : ["rate"],
    arguments: { code, apps, max, rate_per_second: null },
    note: () => [
      note(max === 1 ? "One waiting request returns to its request queue, and tests the cause."
        : "Repair the cause first. While a breaker is open, workers move the requests to a wait queue again."),
      note(apps === null ? "The requests of all apps." : `Only the requests of ${someOf(apps, appsShownMax)}.`),
      apps?.length >= reportedAppsMax && note(`A worker reports at most ${reportedAppsMax} apps of a cause. `,
        "The requests of its other apps return when their waits end."),
    ],
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
