// The header: the cluster, the state of the broker and the console, the counts of the pages, and the session.

import { announce } from "./announcer.js";
import { byID, make, setAttribute, setText } from "./dom.js";
import { draw } from "./draw.js";
import * as fleet from "./fleet.js";
import { mark } from "./parts.js";
import { current, role } from "./session.js";
import { duration, formatCount, timeOfDay } from "./words.js";

// Time before the end of the session at which the header shows the end.
const endNoticeMilliseconds = 5 * 60 * 1000;

// The error of the last call if the console does not respond; null while it responds.
let gone = null;
let wasAway = false;

export function start(pages) {
  draw(byID("pages"), pages.map(({ name, title }) => make("li", { key: name },
    make("a", { href: `#/${name}`, "data-page": name }, title,
      make("span", { class: "count", id: `count-${name}` })))));
}

export function setPage(page) {
  for (const link of document.querySelectorAll("[data-page]")) {
    setAttribute(link, "aria-current", link.dataset.page === page.name ? "page" : null);
    if (link.dataset.page === page.name) showInList(link);
  }
  drawTitle(page);
}

// Scrolls the list of pages, which is wider than a narrow screen. `scrollIntoView` would scroll the page, too.
function showInList(link) {
  const list = byID("pages");
  list.scrollLeft = link.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
}

let shownPage = null;
let causes = 0;

function drawTitle(page) {
  shownPage = page ?? shownPage;
  const count = causes > 0 ? `(${causes}) ` : "";
  document.title = `${count}${shownPage.title} · Martlet ${current()?.cluster ?? ""}`.trim();
}

export function setCauses(list) {
  if (list.length > causes) announce("causes", `${list.length} open ${list.length === 1 ? "cause" : "causes"}.`);
  causes = list.length;
  setText(byID("count-now"), causes > 0 ? String(causes) : "");
  drawTitle();
}

export function setDead(count) {
  setText(byID("count-dead"), count > 0 ? formatCount(count) : "");
}

export function setGone(error, milliseconds = 0) {
  if (error && !gone) announce("console", "The console is not available.");
  if (!error && gone) announce("console", "The console is available again.");
  gone = error ? { error, milliseconds } : null;
  tick();
}

// Draws what changes with the time.
export function tick() {
  const owner = current();
  if (owner === null) return;
  setText(byID("cluster"), owner.cluster ?? "");
  setText(byID("who"), `${owner.name} · ${role()}`);
  drawState();
  drawSessionEnd(owner);
  drawWorkers();
}

function drawState() {
  const away = fleet.awaySeconds();
  const asOf = fleet.current()?.as_of;
  const since = asOf ? `as of ${timeOfDay(asOf)}, ` : "";
  byID("banner").hidden = gone === null && away === null;
  if (gone !== null) {
    const seconds = Math.max(Math.round(gone.milliseconds / 1000), 1);
    draw(byID("state"), mark("bad", "disconnected"));
    const why = gone.error.isGone ? `The console does not respond (${gone.error.message}).` : `${gone.error.message}.`;
    draw(byID("banner"), mark("bad", `${since}console away`), ` ${why} Next attempt in ${duration(seconds)}.`);
  } else if (away !== null) {
    draw(byID("state"), mark("warn", "broker away"));
    draw(byID("banner"), mark("warn", `${since}broker away for ${duration(away)}`),
      ` ${fleet.current().broker.reason ?? ""} The page shows earlier data. Actions are refused.`);
  } else draw(byID("state"), fleet.current() ? mark("good", "live") : mark("busy", "connecting"));
  if (away !== null && !wasAway) announce("broker", "The broker is away.");
  if (away === null && wasAway) announce("broker", "The broker is connected again.");
  wasAway = away !== null;
}

function drawSessionEnd(owner) {
  const left = owner.endsAt - Date.now();
  const isNear = Number.isFinite(left) && left < endNoticeMilliseconds;
  byID("session-end").hidden = !isNear;
  if (isNear) setText(byID("session-end"), `The session ends in ${duration(Math.max(left / 1000, 0))}.`);
}

function drawWorkers() {
  const list = fleet.workers();
  const silent = list.filter((worker) => worker.presence === "silent").length;
  const reporting = list.filter((worker) => worker.presence === "reporting").length;
  const more = silent > 0 ? `+${formatCount(silent)}` : "";
  setText(byID("count-workers"), list.length === 0 ? "" : `${formatCount(reporting)}${more}`);
  setAttribute(byID("count-workers"), "title", silent > 0 ? `${reporting} report, ${silent} silent` : null);
}
