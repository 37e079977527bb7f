// Puts the parts of the page together: the feed tells the lists, a slow beat keeps the figures fresh.

import { call } from "./api.js";
import * as clock from "./clock.js";
import * as connections from "./connections.js";
import * as detail from "./detail.js";
import { byID, setText } from "./dom.js";
import * as faults from "./faults.js";
import { Feed } from "./feed.js";
import * as lockscreen from "./lockscreen.js";
import * as requests from "./requests.js";
import { formatCount, plural } from "./words.js";

const beatMilliseconds = 2000;
const announcementMillisecondsMin = 5000;

const feed = new Feed({
  requests(list, missed) {
    requests.add(list, missed);
    lockscreen.add(list);
    announce(list.length);
    beatSoon();
  },
  restarted() {
    requests.mark("Below: before it was started anew or reset");
    lockscreen.clear();
  },
  reached() {
    showLink(feed.isPaused ? "paused" : "there", feed.isPaused ? "Paused" : "Live");
    byID("gone").hidden = true;
  },
  gone(message, milliseconds) {
    showLink("gone", "Not there");
    const gone = byID("gone");
    setText(gone, `The simulator is gone (${message}). What is shown is from before. Trying again every ${
      plural(Math.max(Math.round(milliseconds / 1000), 1), "second")}.`);
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
  unannounced += count;
  announcementTimer ??= setTimeout(() => {
    setText(byID("announcer"), `${plural(unannounced, "request")} came in.`);
    unannounced = 0;
    announcementTimer = null;
  }, announcementMillisecondsMin);
}

let beatTimer = null;
let beatInHand = null;

function beatSoon(milliseconds = 150) {
  clearTimeout(beatTimer);
  beatTimer = setTimeout(beat, milliseconds);
}

// Reads the figures; what was asked for before a change is waited for, and then asked for again.
async function beat() {
  await beatInHand;
  clearTimeout(beatTimer);
  beatInHand = readFigures();
  await beatInHand;
  beatInHand = null;
  beatSoon(document.hidden || byID("link").dataset.state === "gone" ? 5 * beatMilliseconds : beatMilliseconds);
}

async function readFigures() {
  try {
    const [counters, faultList, connectionList, clockState] = await Promise.all(
      ["/v1/counters", "/v1/faults", "/v1/connections", "/v1/clock"].map((path) => call("GET", path)));
    drawFigures(counters);
    faults.draw(faultList.faults);
    connections.draw(connectionList.connections);
    clock.draw(clockState);
  } catch {
    // That it is gone is the feed's to say.
  }
  lockscreen.drawTime(clock.now());
}

function drawFigures(counters) {
  const refused = Object.values(counters.refused_by_status ?? {}).reduce((sum, count) => sum + count, 0);
  setText(byID("figure-requests"), formatCount(counters.requests));
  setText(byID("figure-accepted"), formatCount(counters.accepted));
  setText(byID("figure-refused"), formatCount(refused));
  setText(byID("figure-in-flight"), formatCount(counters.in_flight));
}

// On a narrow screen one part is shown at a time.
function showView() {
  const view = ["lock", "requests", "faults", "connections"].find((name) => location.hash === `#${name}`) ?? "lock";
  document.body.dataset.view = view;
  for (const link of document.querySelectorAll(".views a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

byID("pause").addEventListener("click", () => {
  const isPaused = !feed.isPaused;
  byID("pause").setAttribute("aria-pressed", String(isPaused));
  feed.setPaused(isPaused);
  showLink(isPaused ? "paused" : "waiting", isPaused ? "Paused" : "Connecting…");
});
addEventListener("hashchange", showView);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) beatSoon(0);
});

detail.start(faults.refuseDevice);
requests.start(detail.open);
lockscreen.start(detail.open);
faults.start(beat);
clock.start(beat, () => {
  requests.clear();
  lockscreen.clear();
  feed.newest = 0;
  feed.interrupt();
});
lockscreen.drawTime(Date.now());
showView();
beat();
feed.run();
