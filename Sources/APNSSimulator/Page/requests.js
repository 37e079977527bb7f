// The list of requests with their answers, newest first.

import { call } from "./api.js";
import { arrivalClass } from "./arrival.js";
import { byID, icon, make, put, reconcile, setText } from "./dom.js";
import { explain } from "./explain.js";
import { addresseeOf, describe, deviceOf, isBroadcast, isPush, namesOf, summaryOf } from "./notification.js";
import { attempt } from "./outcome.js";
import { finder, suggest } from "./search.js";
import { formatCount, timeOfDay } from "./words.js";

const pageMax = 500;
const devicesMax = 50;

// The listed requests, newest first.
let entries = [];
// Maximum number of listed requests, which grows when the user loads older requests.
let rowsMax = pageMax;
// Number of skipped requests between listed requests.
let skipped = 0;
// The lowest number of a request that the log may still have.
let oldestKept = 1;
// Whether the list is a saved run, which has no older requests to load.
let isSaved = false;
// Increases when the list is cleared.
let generation = 0;
// The suggested names of addressees by key.
let addressees = new Map();
let isAddressee = () => true;
let showDetail = () => {};

export function start(open) {
  showDetail = open;
  byID("find").addEventListener("input", filter);
  byID("answer").addEventListener("change", filter);
  byID("addressee").addEventListener("input", filter);
  for (const radio of document.querySelectorAll("input[name=outcome]")) radio.addEventListener("change", filter);
  byID("older").addEventListener("click", () => attempt(byID("older-outcome"), addOlder));
}

// `missed`: number of skipped requests. `dropped`: number of the newest request that is no longer kept; 0 if unknown.
export function add(requests, missed, dropped = 0) {
  oldestKept = Math.max(oldestKept, dropped + 1);
  skipped += missed;
  const fresh = requests.map(entryOf).reverse();
  entries = fresh.concat(entries);
  const old = entries.splice(rowsMax);
  for (const entry of old) entry.element.remove();
  byID("rows").prepend(...fresh.slice(0, rowsMax).map((entry) => entry.element));
  listed();
}

async function addOlder() {
  const oldest = oldestListed();
  const [button, asked] = [byID("older"), generation];
  button.disabled = true;
  try {
    // Raise the limit before the call, because requests that arrive during the call must not displace the oldest rows.
    rowsMax += pageMax;
    const { requests, dropped } = await call("GET", `/v1/requests?before=${oldest}&limit=${pageMax}`).catch((error) => {
      if (asked === generation) rowsMax -= pageMax;
      throw error;
    });
    if (asked !== generation) return "";
    const older = requests.map(entryOf).reverse();
    entries = entries.concat(older);
    byID("rows").append(...older.map((entry) => entry.element));
    oldestKept = dropped + 1;
    listed();
    return older.length === 0 ? "Older requests are no longer in the log." : "";
  } finally {
    button.disabled = false;
  }
}

const oldestListed = () => entries.at(-1)?.request.number ?? 1;

// `saved`: number of requests if a saved run follows; 0 for requests of the simulator.
export function clear(saved = 0) {
  entries = [];
  isSaved = saved > 0;
  rowsMax = Math.max(pageMax, saved);
  skipped = 0;
  oldestKept = 1;
  generation += 1;
  byID("rows").replaceChildren();
  for (const id of ["answer", "addressee"]) byID(id).value = "";
  isAddressee = () => true;
  setText(byID("older-outcome"), "");
  listed();
}

// Returns the request that is `step` visible rows further down; null without such a row.
export function neighbor(request, step) {
  const shown = entries.filter((entry) => !entry.element.hidden);
  // A saved run can contain a reset, which restarts the numbers. The time distinguishes equal numbers.
  const place = shown.findIndex((entry) => entry.request.number === request.number && entry.request.unix_ms === request.unix_ms);
  return place === -1 ? null : shown[place + step]?.request ?? null;
}

function entryOf(request) {
  const entry = { request, element: row(request), text: searchable(request) };
  entry.element.hidden = !matches(entry);
  return entry;
}

function listed() {
  drawAnswers();
  suggestAddressees();
  drawNotes();
}

// Offers the answers of the listed requests as options, the most frequent first. Keeps the selection.
function drawAnswers() {
  const select = byID("answer");
  const chosen = select.value;
  const answers = new Map(chosen === "" ? [] : [[chosen, 0]]);
  for (const { request } of entries) {
    const word = answerOf(request);
    answers.set(word, (answers.get(word) ?? 0) + 1);
  }
  const options = [...answers].sort((left, right) => right[1] - left[1])
    .map(([word, count]) => [word, `${word} (${formatCount(count)})`]);
  reconcile(select, [["", "all answers"], ...options], ([key]) => key,
    ([key, text]) => make("option", { value: key }, text), (option, [, text]) => setText(option, text));
  select.value = chosen;
}

function suggestAddressees() {
  const newest = new Map();
  for (const { request } of entries) {
    const key = addresseeKey(request);
    if (key !== "" && newest.size < devicesMax) newest.set(key, addresseeOf(request));
  }
  addressees = new Map(namesOf(newest));
  suggest(byID("addressees"), [...addressees.values()]);
}

export function answerOf(request) {
  if (request.reset) return `Reset, ${request.reset}`;
  return request.status ? [request.status, request.reason].filter(Boolean).join(" ") : "Never answered";
}

const addresseeKey = (request) => (isPush(request) ? isBroadcast(request) ? addresseeOf(request) : deviceOf(request) : "");

function filter() {
  isAddressee = finder(byID("addressee").value, addressees);
  for (const entry of entries) entry.element.hidden = !matches(entry);
  drawNotes();
}

function matches({ request, text }) {
  const outcome = document.querySelector("input[name=outcome]:checked").value;
  if (outcome !== "" && (outcome === "accepted") !== isAccepted(request)) return false;
  const answer = byID("answer").value;
  if (answer !== "" && answer !== answerOf(request)) return false;
  if (!isAddressee(addresseeKey(request), addresseeOf(request))) return false;
  const wanted = byID("find").value.trim().toLowerCase();
  return wanted === "" || text.includes(wanted);
}

const isAccepted = (request) => request.status >= 200 && request.status < 300;

function searchable(request) {
  return [
    request.device_token, request.topic, request.apns_id, request.path, request.reason, request.push_type, request.fault,
    request.status, request.reset, request.malformed_field, summaryOf(request), addresseeOf(request),
  ].filter(Boolean).join(" ").toLowerCase();
}

function drawNotes() {
  byID("requests-nothing").hidden = entries.length > 0;
  byID("filters").hidden = entries.length === 0;
  const shown = entries.filter((entry) => !entry.element.hidden).length;
  const notes = [
    entries.length > 0 && shown < entries.length && `${formatCount(shown)} of the ${formatCount(entries.length)} listed requests match.`,
    skipped > 0 && `${formatCount(skipped)} requests in between are not listed.`,
  ].filter(Boolean);
  byID("older").hidden = isSaved || oldestListed() <= oldestKept;
  byID("requests-note").hidden = notes.length === 0;
  setText(byID("requests-note"), notes.join(" "));
}

function row(request) {
  const opener = make("button", { type: "button", class: "opener" }, summaryOf(request));
  opener.addEventListener("click", () => showDetail(request));
  const kind = isPush(request) ? describe(request).icon : "gear";
  return make("li", { class: `row ${isAccepted(request) ? "" : "refused"} ${arrivalClass()}` },
    make("time", {}, timeOfDay(request.unix_ms)),
    statusPill(request),
    make("div", { class: "what" },
      make("p", { class: "summary" }, icon(kind), opener),
      why(request),
      make("p", { class: "about" }, about(request))));
}

export function statusPill(request) {
  const isAnswered = Number.isInteger(request.status) && request.status > 0;
  const look = request.reset ? "bad" : !isAnswered ? "none" : isAccepted(request) ? "good" : request.status >= 500 ? "warn" : "bad";
  return make("span", { class: `pill ${look}` }, isAnswered ? String(request.status) : request.reset ? "reset" : "none");
}

function why(request) {
  if (isAccepted(request)) return null;
  const line = make("p", { class: "why" });
  if (request.reason) put(line, [make("strong", {}, request.reason), " ", explain(request) ?? ""]);
  else if (request.reset) put(line, [make("strong", {}, request.reset), " ", malformation(request)]);
  else put(line, [request.status ? "Refused without a reason." : "Never answered."]);
  return line;
}

// Returns the HTTP violation of a malformed request.
export function malformation(request) {
  return request.malformed_field ? `HTTP does not allow the header ${request.malformed_field} in a request.`
    : "The request violates HTTP.";
}

function about(request) {
  const words = [
    request.topic, addresseeOf(request),
    request.environment === "production" ? "production" : null,
    isBroadcast(request) ? "broadcast" : null,
  ];
  return [
    words.filter(Boolean).join(" · "),
    request.duplicate && [" ", make("span", { class: "tag warn" }, "duplicate")],
    request.fault && [" ", make("span", { class: "tag warn" }, icon("bolt"), `fault ${request.fault}`)],
  ];
}
