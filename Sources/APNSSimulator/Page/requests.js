// The list of all requests, newest first: what was asked, and what APNs answered.

import { byID, icon, make, put, setText } from "./dom.js";
import { addresseeOf, describe, isBroadcast, isPush, summaryOf } from "./notification.js";
import { formatCount, meaningOf, timeOfDay } from "./words.js";

const rowsMax = 500;

// Newest first, as the rows are.
let entries = [];
let skipped = 0;
let showDetail = () => {};

export function start(open) {
  showDetail = open;
  byID("find").addEventListener("input", filter);
  for (const radio of document.querySelectorAll("input[name=outcome]")) radio.addEventListener("change", filter);
}

// `missed`: how many there were besides, which are not shown.
export function add(requests, missed) {
  skipped += missed;
  const fresh = requests.map((request) => ({ request, element: row(request), text: searchable(request) })).reverse();
  entries = fresh.concat(entries);
  for (const entry of fresh) entry.element.hidden = !matches(entry);
  for (const old of entries.splice(rowsMax)) {
    old.element.remove();
    skipped += 1;
  }
  byID("rows").prepend(...fresh.slice(0, rowsMax).map((entry) => entry.element));
  tell();
}

export function clear() {
  entries = [];
  skipped = 0;
  byID("rows").replaceChildren();
  tell();
}

function filter() {
  for (const entry of entries) entry.element.hidden = !matches(entry);
  tell();
}

function matches({ request, text }) {
  const outcome = document.querySelector("input[name=outcome]:checked").value;
  if (outcome !== "" && (outcome === "accepted") !== isAccepted(request)) return false;
  const wanted = byID("find").value.trim().toLowerCase();
  return wanted === "" || text.includes(wanted);
}

const isAccepted = (request) => request.status >= 200 && request.status < 300;

function searchable(request) {
  return [
    request.device_token, request.topic, request.apns_id, request.path, request.reason, request.push_type, request.fault,
    request.status, summaryOf(request), addresseeOf(request),
  ].filter(Boolean).join(" ").toLowerCase();
}

function tell() {
  byID("requests-nothing").hidden = entries.length > 0;
  const shown = entries.filter((entry) => !entry.element.hidden).length;
  const notes = [
    entries.length > 0 && shown < entries.length && `${formatCount(shown)} of the newest ${formatCount(entries.length)} fit.`,
    skipped > 0 && `${formatCount(skipped)} older or in between are not listed.`,
  ].filter(Boolean);
  byID("requests-note").hidden = notes.length === 0;
  setText(byID("requests-note"), notes.join(" "));
}

function row(request) {
  const opener = make("button", { type: "button", class: "opener" }, summaryOf(request));
  opener.addEventListener("click", () => showDetail(request));
  const kind = isPush(request) ? describe(request).icon : "gear";
  return make("li", { class: isAccepted(request) ? "row" : "row refused" },
    make("time", {}, timeOfDay(request.unix_ms)),
    statusPill(request),
    make("div", { class: "what" },
      make("p", { class: "summary" }, icon(kind), opener),
      why(request),
      make("p", { class: "about" }, about(request))));
}

export function statusPill(request) {
  const isAnswered = Number.isInteger(request.status) && request.status > 0;
  const look = !isAnswered ? "none" : isAccepted(request) ? "good" : request.status >= 500 ? "warn" : "bad";
  return make("span", { class: `pill ${look}` }, isAnswered ? String(request.status) : "none");
}

function why(request) {
  if (isAccepted(request)) return null;
  const line = make("p", { class: "why" });
  if (request.reason) put(line, [make("strong", {}, request.reason), " ", meaningOf(request.reason) ?? ""]);
  else put(line, [request.status ? "Refused without a reason." : "Never answered."]);
  return line;
}

function about(request) {
  const words = [
    request.topic, addresseeOf(request),
    request.environment === "production" ? "production" : null,
    isBroadcast(request) ? "broadcast" : null,
  ];
  return [
    words.filter(Boolean).join(" · "),
    request.duplicate && [" ", make("span", { class: "tag warn" }, "seen before")],
    request.fault && [" ", make("span", { class: "tag warn" }, icon("bolt"), `fault ${request.fault}`)],
  ];
}
