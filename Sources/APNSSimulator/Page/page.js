// Puts the parts of the page together: the feed tells the lists, a slow beat keeps the figures fresh.

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

const beatMilliseconds = 2000;
const announcementMillisecondsMin = 5000;

const feed = new Feed({
  requests(list, missed, dropped) {
    if (list.length > 0) arrival.note();
    requests.add(list, missed, dropped);
    detail.drawNeighbours();
    lockscreen.add(list);
    chooseFirst();
    announce(list.length);
    beatSoon();
  },
  startedAnew() {
    detail.close();
    requests.clear();
    lockscreen.clear();
  },
  reached() {
    if (byID("link").dataset.state === "gone") {
      beatSoon(0);
      drawGuide();
    }
    showLink(feed.isPaused ? "paused" : "there", feed.isPaused ? "Paused" : "Live");
    byID("gone").hidden = true;
  },
  gone(error, milliseconds) {
    showLink("gone", error.isGone ? "Not there" : "No requests");
    const gone = byID("gone");
    const why = error.isGone
      ? `The simulator is gone (${error.message}). What is shown is from before.`
      : `The simulator does not tell its requests: ${error.message}.`;
    setText(gone, `${why} Trying again every ${plural(Math.max(Math.round(milliseconds / 1000), 1), "second")}.`);
    gone.hidden = false;
  },
});

function showLink(state, text) {
  byID("link").dataset.state = state;
  setText(byID("link-text"), text);
}

// Says how many came, now and then: not each one as it comes.
let unannounced = 0;
let announcementTimer = null;
function announce(count) {
  if (count === 0) return;
  unannounced += count;
  announcementTimer ??= setTimeout(() => {
    setText(byID("announcer"), `${plural(unannounced, "request")} came in.`);
    unannounced = 0;
    announcementTimer = null;
  }, announcementMillisecondsMin);
}

// A saved run is shown, and nothing of what comes.
let isSavedShown = false;

let beatTimer = null;
let beatInHand = null;
// When the simulator began to count: at its start, or when it was reset.
let since = null;

function beatSoon(milliseconds = 150) {
  clearTimeout(beatTimer);
  beatTimer = setTimeout(beat, milliseconds);
}

// Reads the figures; what was asked for before a change is waited for, and then asked for again.
async function beat() {
  await beatInHand;
  clearTimeout(beatTimer);
  try {
    beatInHand = readFigures();
    await beatInHand;
  } finally {
    beatInHand = null;
    beatSoon(document.hidden || byID("link").dataset.state === "gone" ? 5 * beatMilliseconds : beatMilliseconds);
  }
}

async function readFigures() {
  await Promise.all([
    show("/v1/counters", (counters) => {
      if (since !== null && counters.since_unix_ms !== since && !isSavedShown) feed.startAnew();
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
    // That it is gone is the feed's to say. Of a mistake in one part the console tells, and the others are drawn.
    if (!(error instanceof APIError)) reportError(error);
  }
}

// They may be long, and change rarely.
const isWorldShown = () => byID("world").checkVisibility() && byID("world").querySelector("details[open]") !== null;

function drawFigures(counters) {
  setText(byID("since"), `since ${timeOfDay(counters.since_unix_ms)}`);
  // Those that broke the rules of HTTP are listed, too, and were refused by a reset.
  const malformed = counters.requests_malformed ?? 0;
  const refused = Object.values(counters.refused_by_status ?? {}).reduce((sum, count) => sum + count, malformed);
  const abandoned = counters.requests_abandoned ?? 0;
  // Of requests that came before a reset, those in flight are still counted.
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
// The one that is shown where the address names none.
let firstView = "lock";

// As long as nothing was delivered, the lock screen is empty: how to push, or why it was refused, is with the requests.
function chooseFirst() {
  const view = lockscreen.isEmpty() ? "requests" : "lock";
  if (view === firstView) return;
  firstView = view;
  showView();
}

// On a narrow screen one part is shown at a time.
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
    feed.startAnew();
  }
  feed.setPaused(isPaused);
  showLink(isPaused ? "paused" : "waiting", isPaused ? "Paused" : "Connecting…");
});
addEventListener("hashchange", showView);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) beatSoon(0);
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
for (const part of document.querySelectorAll("#world details")) part.addEventListener("toggle", () => beatSoon(0));
world.start(beat);
detail.start(faults.refuseDevice);
requests.start(detail.open);
lockscreen.start(detail.open);
faults.start(beat);
clock.start(beat);
lockscreen.drawTime(Date.now());
showView();
drawGuide();
beat();
feed.run();
