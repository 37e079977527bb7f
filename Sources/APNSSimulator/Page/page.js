// Connects the parts of the page. The feed updates the lists, and a timer refreshes the figures.

import { APIError, call } from "./api.js";
import * as arrival from "./arrival.js";
import * as clock from "./clock.js";
import * as connections from "./connections.js";
import * as detail from "./detail.js";
import { byID, setText } from "./dom.js";
import * as faults from "./faults.js";
import { Feed } from "./feed.js";
import * as guide from "./guide.js";
import * as lockscreen from "./lockscreen.js";
import * as record from "./record.js";
import * as requests from "./requests.js";
import * as teams from "./teams.js";
import { formatCount, plural, timeOfDay } from "./words.js";
import * as world from "./world.js";

const refreshMilliseconds = 2000;
const announcementMillisecondsMin = 5000;

const feed = new Feed({
  requests(list, missed, dropped) {
    if (list.length > 0) arrival.record();
    requests.add(list, missed, dropped);
    detail.drawNeighbors();
    lockscreen.add(list);
    chooseFirst();
    announce(list.length);
    refreshSoon();
  },
  restarted() {
    detail.close();
    requests.clear();
    lockscreen.clear();
  },
  reached() {
    if (byID("link").dataset.state === "gone") {
      refreshSoon(0);
      drawGuide();
    }
    showLink(feed.isPaused ? "paused" : "there", feed.isPaused ? "Paused" : "Live");
    byID("gone").hidden = true;
  },
  gone(error, milliseconds) {
    showLink("gone", error.isGone ? "Disconnected" : "No requests");
    const gone = byID("gone");
    const why = error.isGone
      ? `The simulator is not available (${error.message}). The page shows earlier data.`
      : `The simulator does not list its requests: ${error.message}.`;
    setText(gone, `${why} Retrying every ${plural(Math.max(Math.round(milliseconds / 1000), 1), "second")}.`);
    gone.hidden = false;
  },
});

function showLink(state, text) {
  byID("link").dataset.state = state;
  setText(byID("link-text"), text);
}

// Announces the number of new requests to screen readers at intervals instead of each request.
let unannounced = 0;
let announcementTimer = null;
function announce(count) {
  if (count === 0) return;
  unannounced += count;
  announcementTimer ??= setTimeout(() => {
    setText(byID("announcer"), `${plural(unannounced, "new request")}.`);
    unannounced = 0;
    announcementTimer = null;
  }, announcementMillisecondsMin);
}

// Whether the page shows a saved run instead of new requests.
let isSavedShown = false;

let refreshTimer = null;
let pendingRefresh = null;
// The time at which the simulator began to count, at its start or its last reset.
let since = null;

function refreshSoon(milliseconds = 150) {
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(refresh, milliseconds);
}

// Reads the figures. First waits for a pending read, which may precede a change.
async function refresh() {
  await pendingRefresh;
  clearTimeout(refreshTimer);
  try {
    pendingRefresh = readFigures();
    await pendingRefresh;
  } finally {
    pendingRefresh = null;
    refreshSoon(document.hidden || byID("link").dataset.state === "gone" ? 5 * refreshMilliseconds : refreshMilliseconds);
  }
}

async function readFigures() {
  await Promise.all([
    show("/v1/counters", (counters) => {
      if (since !== null && counters.since_unix_ms !== since && !isSavedShown) feed.restart();
      since = counters.since_unix_ms;
      drawFigures(counters);
    }),
    show("/v1/faults", (list) => faults.draw(list.faults)),
    show("/v1/connections", (list) => connections.draw(list.connections, list.failures)),
    show("/v1/clock", clock.draw),
    ...(isWorldShown() ? [
      show(`/v1/devices?limit=${world.shownMax}`, world.drawDevices),
      show("/v1/teams", (list) => teams.draw(list.teams)),
      show("/v1/channels", (list) => world.drawChannels(list.channels)),
      show("/v1/rules", world.drawRules),
    ] : []),
  ]);
  lockscreen.drawTime(clock.now());
}

async function show(path, draw) {
  try {
    draw(await call("GET", path));
  } catch (error) {
    // The feed shows connection errors. Other errors go to the console, and the other parts are still drawn.
    if (!(error instanceof APIError)) reportError(error);
  }
}

// The lists of the state can be long and change rarely, so they are read only while visible.
const isWorldShown = () => byID("world").checkVisibility() && byID("world").querySelector("details[open]") !== null;

function drawFigures(counters) {
  setText(byID("since"), `since ${timeOfDay(counters.since_unix_ms)}`);
  // Malformed requests are in the list as well. The simulator refused them with a reset.
  const malformed = counters.requests_malformed ?? 0;
  const refused = Object.values(counters.refused_by_status ?? {}).reduce((sum, count) => sum + count, malformed);
  const abandoned = counters.requests_abandoned ?? 0;
  // Requests in flight from before a reset of the simulator are still counted.
  setText(byID("figure-requests"), formatCount(counters.accepted + refused + abandoned + counters.in_flight));
  setText(byID("figure-accepted"), formatCount(counters.accepted));
  setText(byID("figure-refused"), formatCount(refused));
  setText(byID("figure-abandoned"), formatCount(abandoned));
  byID("abandoned").hidden = abandoned === 0;
  setText(byID("figure-in-flight"), formatCount(counters.in_flight));
}

function drawGuide() {
  guide.draw().catch((error) => {
    if (!(error instanceof APIError)) reportError(error);
  });
}

const views = ["lock", "requests", "faults", "connections", "world"];
// The view without a fragment in the address.
let firstView = "lock";

// Without an accepted push, the lock screen is empty. The view of requests has the guide and the causes of refusals.
function chooseFirst() {
  const view = lockscreen.isEmpty() ? "requests" : "lock";
  if (view === firstView) return;
  firstView = view;
  showView();
}

// On a narrow screen, only one part is visible.
function showView() {
  const isLink = location.hash.startsWith("#request-");
  const view = views.find((name) => location.hash === `#${name}`) ?? (isLink ? "requests" : firstView);
  document.body.dataset.view = view;
  for (const link of document.querySelectorAll(".views a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

byID("pause").addEventListener("click", () => {
  const isPaused = !feed.isPaused;
  byID("pause").setAttribute("aria-pressed", String(isPaused));
  if (isSavedShown) {
    isSavedShown = false;
    delete document.body.dataset.saved;
    feed.restart();
  }
  feed.setPaused(isPaused);
  showLink(isPaused ? "paused" : "waiting", isPaused ? "Paused" : "Connecting…");
});
addEventListener("hashchange", showView);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refreshSoon(0);
});

record.start((list, name) => {
  if (!feed.isPaused) byID("pause").click();
  isSavedShown = true;
  document.body.dataset.saved = "";
  detail.close();
  requests.clear(list.length);
  lockscreen.clear();
  requests.add(list, 0);
  lockscreen.add(list);
  showLink("paused", name);
});
for (const part of document.querySelectorAll("#world details")) part.addEventListener("toggle", () => refreshSoon(0));
world.start(refresh);
detail.start(faults.refuseDevice);
requests.start(detail.open);
lockscreen.start(detail.open);
faults.start(refresh);
clock.start(refresh);
lockscreen.drawTime(Date.now());
showView();
drawGuide();
refresh();
feed.run();
