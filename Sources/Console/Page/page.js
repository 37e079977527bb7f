// Connects the parts of the page. The feed names what has changed, and the shown page reads what it needs.

import * as actions from "./actions.js";
import { APIError, call } from "./api.js";
import { page as apps } from "./apps.js";
import { page as audit } from "./audit.js";
import * as bar from "./bar.js";
import { remedyOf } from "./copy.js";
import { page as dead } from "./dead.js";
import * as dialog from "./dialog.js";
import { byID, setAttribute } from "./dom.js";
import { draw } from "./draw.js";
import { Feed } from "./feed.js";
import { focusField, forget as forgetSearch, page as find } from "./find.js";
import * as fleet from "./fleet.js";
import * as header from "./header.js";
import * as keyboard from "./keyboard.js";
import { page as keys } from "./keys.js";
import * as login from "./login.js";
import { page as now } from "./now.js";
import { failure, heading, note } from "./parts.js";
import { page as queues } from "./queues.js";
import * as redrive from "./redrive.js";
import * as reveal from "./reveal.js";
import * as router from "./router.js";
import * as session from "./session.js";
import * as stored from "./stored.js";
import { forget as forgetTest, page as test } from "./test.js";
import { page as workers } from "./workers.js";

const pages = [now, find, apps, dead, queues, workers, keys, test, audit];

// Intervals of the data that the header shows on all pages.
const headerMilliseconds = 5000;
const refusedMilliseconds = 3000;

// The shown page, its arguments, its data (null before the first answer), and the error of the last answer.
let shown = null;
let parts = [];
let data = null;
let problem = null;
// Increases with each change of the shown page.
let generation = 0;

function showRoute() {
  if (session.current() === null) return;
  const { name, parts: wanted } = router.route();
  const next = pages.find((page) => page.name === name) ?? now;
  const isOther = shown !== null && (next !== shown || wanted.join("/") !== parts.join("/"));
  [shown, parts, data, problem] = [next, wanted, null, null];
  generation += 1;
  byID("page").replaceChildren();
  byID("page").dataset.name = next.name;
  header.setPage(next);
  bar.update();
  drawPage();
  load();
  if (isOther) {
    scrollTo(0, 0);
    byID("page").focus({ preventScroll: true });
  }
}

function drawPage() {
  if (shown === null) return;
  if (data !== null) {
    draw(byID("page"), problem && failure(problem.message, remedyOf(problem.remedy)), shown.draw(data, parts));
  } else {
    draw(byID("page"), heading(shown.title),
      problem ? failure(problem.message, remedyOf(problem.remedy)) : note("Loading…"));
  }
  setAttribute(byID("page"), "aria-busy", data === null && problem === null ? "true" : null);
}

let isLoading = false;
let isStale = false;
let retryTimer = null;

// Reads the data of the shown page. A change during a read causes one more read.
async function load() {
  if (isLoading) {
    isStale = true;
    return;
  }
  [isLoading, isStale] = [true, false];
  clearTimeout(retryTimer);
  const asked = generation;
  try {
    const answer = await shown.load(parts);
    if (asked === generation) [data, problem] = [answer, null];
    if (shown === now) setCounts(data);
    if (shown === dead) header.setDead(data?.inQueue);
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (asked === generation) await recordProblem(error);
  } finally {
    isLoading = false;
    if (session.current() !== null) {
      drawPage();
      header.tick();
      if (isStale || asked !== generation) load();
    }
  }
}

// The feed shows that the console does not respond. The page shows other errors, and tries again.
function recordProblem(error) {
  if (error.isGone) {
    header.setGone(error, refusedMilliseconds);
    problem = data === null ? error : null;
  } else problem = error;
  retryTimer = setTimeout(load, refusedMilliseconds);
}

function setCounts(causes) {
  header.setCauses(causes?.causes ?? []);
  header.setDead(causes?.totals?.dead_letters);
}

let headerReadAt = 0;

// Reads the data of the header, unless the shown page has just read it.
async function loadHeader() {
  if (Date.now() - headerReadAt < headerMilliseconds) return;
  headerReadAt = Date.now();
  try {
    // The title of a hidden page shows the number of causes.
    if (shown !== workers && !document.hidden) await fleet.load();
    if (shown !== now) setCounts(await call("GET", "/api/causes", undefined, { keeps: true }));
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
  }
  header.tick();
}

const feed = new Feed({
  changed(names) {
    if (names.length === 0) return;
    loadHeader();
    if (!document.hidden && names.some((name) => shown.uses.includes(name))) load();
  },
  reached() {
    header.setGone(null);
  },
  gone(error, milliseconds) {
    header.setGone(error, milliseconds);
  },
});

// A hidden page reads no data of its own.
document.addEventListener("visibilitychange", () => {
  if (document.hidden || session.current() === null) return;
  headerReadAt = 0;
  loadHeader();
  load();
});

function open() {
  login.hide();
  headerReadAt = 0;
  header.tick();
  showRoute();
  loadHeader();
  feed.start();
  actions.resume();
  redrive.resume();
}

function end(reason, isLoggedOut) {
  feed.stop();
  for (const part of [actions, redrive, reveal, fleet]) part.forget();
  forgetSearch();
  forgetTest();
  if (isLoggedOut) stored.removeAll();
  clearTimeout(retryTimer);
  generation += 1;
  [shown, data, problem] = [null, null, null];
  byID("page").replaceChildren();
  login.show(reason);
}

router.start(drawPage, () => load());
dialog.start();
bar.start([dialog.hidden, redrive.hidden]);
login.start(open);
header.start(pages);
keyboard.start(pages, focusField);
session.start(end);
addEventListener("hashchange", showRoute);
byID("log-out").addEventListener("click", () => session.logOut().catch((error) => {
  if (!(error instanceof APIError)) throw error;
}));
byID("find-button").addEventListener("click", focusField);
byID("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byID("page").focus();
});
setInterval(() => {
  if (session.current() === null || document.hidden) return;
  header.tick();
  if (shown?.ticks && data !== null) drawPage();
}, 1000);

async function begin() {
  try {
    if (await session.resume()) open();
    else login.show();
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    login.show(error);
  }
}

begin();
