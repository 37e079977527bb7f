// The page Find: requests by id, device token or user, and the steps of one request.

import { call, query } from "./api.js";
import { byID, icon, make } from "./dom.js";
import * as fleet from "./fleet.js";
import { older } from "./paging.js";
import { button, crumbs, facts, field, heading, historyIsOff, mark, nameOrDash, note, nothing } from "./parts.js";
import { hide, isAsked, problemOf, reveal, valueOf } from "./reveal.js";
import { address, go, reload } from "./router.js";
import { current, may } from "./session.js";
import { agree, duration, moment, plural, timeOfDay } from "./words.js";

const kinds = [["id", "Request ID"], ["token", "Device token"], ["user", "User"]];
const nouns = new Map([["id", "ID"], ["token", "device token"], ["user", "user"]]);

const nothingWanted = { kind: "id", text: "" };

// The current search. Device tokens and users stay in memory: an address would keep them in the browser's history.
let search = nothingWanted;

// Whether the address names the search. A device token may have been entered as an ID.
const hasAddress = ({ kind, text }) => kind === "id" && text !== "" && !/^[0-9a-f]{64,}$/i.test(text);

const paging = older(
  (before) => call("GET", `/api/requests${query({ [search.kind]: search.text, before })}`), "requests");

export const page = {
  name: "find", title: "Find", uses: ["history"], ticks: true,
  async load(parts) {
    if (!current()?.history) return {};
    if (parts[0] === "request") return call("GET", `/api/requests/${encodeURIComponent(parts[1] ?? "")}`);
    if (parts[0] === "id" && (search.kind !== "id" || search.text !== parts[1])) begin("id", parts[1] ?? "");
    if (search.text !== "") await paging.first();
    return {};
  },
  draw(data, parts) {
    if (!current()?.history) return [heading("Find"), historyIsOff()];
    if (parts[0] === "request") return one(data);
    return [heading("Find"), form(), search.text === "" ? start() : list()];
  },
};

function begin(kind, text) {
  search = { kind, text };
  paging.clear();
}

// Forgets the search at the end of a session.
export const forget = () => begin(nothingWanted.kind, nothingWanted.text);

const form = () => make("form", { class: "filters find", key: "form", role: "search", onsubmit: submit },
  field("Search by", make("select", { name: "kind" }, kinds.map(([value, name]) =>
    make("option", { value, selected: value === search.kind }, name)))),
  field("Value", make("input", {
    type: "text", name: "text", id: "find-text", value: search.text, autocomplete: "off", spellcheck: "false",
    autocapitalize: "none", maxlength: "1024",
  })),
  make("button", { class: "main" }, "Find"));

function submit(event) {
  event.preventDefault();
  const values = new FormData(event.currentTarget);
  const [kind, text] = [values.get("kind"), values.get("text").trim()];
  begin(kind, text);
  if (hasAddress(search)) {
    if (location.hash === address("find", "id", text)) reload();
    else go("find", "id", text);
  } else if (location.hash === "#/find") reload();
  else go("find");
}

const start = () => nothing("Find the outcome of a request",
  "Enter the ID of a request, a device token or its first 4 to 10 digits, or a user.");

function list() {
  const requests = paging.all();
  const gaps = (paging.pages()[0]?.gaps ?? []).filter(isLoss);
  if (paging.pages().length === 0) return make("p", { class: "note", key: "searching" }, "Searching…");
  return [
    requests.length > 0
      ? make("ol", { class: "records", key: "records" }, requests.map(row))
      : nothing(`No request has this ${nouns.get(search.kind) ?? search.kind}`,
        paging.pages()[0].note ?? (gaps.length > 0 ? "Some results are missing in the history. See the notes below."
          : "The history has no result of it. The request may still be in a queue, or is older than the history.")),
    gaps.map(gapNote), paging.button(),
  ];
}

// Whether results may be missing. A worker without requests sends no journal, but continues to report.
const isLoss = (gap) => gap.reason !== "silent" || (fleet.current() !== null
  && !fleet.workers().some(({ worker, presence }) => worker === gap.worker && presence === "reporting"));

const gapReasons = new Map([
  ["killed", "was killed"], ["missing", "sent batches that are missing"], ["dropped", "dropped lines"],
]);

const gapNote = (gap) => make("p", { class: "gap", key: `gap ${gap.worker} ${gap.from}` }, icon("warn"),
  make("span", {}, gap.reason === "silent"
    ? `${gap.worker} has sent no journal since ${moment(gap.from)}. If it was killed, some of its results are missing.`
    : [`${gap.worker} ${gapReasons.get(gap.reason) ?? gap.reason} at ${moment(gap.until)}. `, loss(gap)]));

const loss = ({ lines, from, until }) => (Number.isFinite(lines)
  ? `${plural(lines, "result")} ${agree(lines, "is", "are")} missing here.`
  : `Up to ${duration(Math.max((until - from) / 1000, 1))} of its results are missing here.`);

const outcomes = new Map([
  ["accepted", "good"], ["refused", "bad"], ["failed", "bad"], ["expired", "warn"], ["waiting", "busy"],
]);

const outcomeMark = (outcome) => mark(outcomes.get(outcome) ?? "warn", outcome);

const row = (request) => make("li", { class: "record", key: request.key, "data-item": true, tabindex: "-1" },
  make("time", {}, moment(request.at)),
  make("div", {},
    make("p", {}, outcomeMark(request.outcome), " ",
      make("a", { href: address("find", "request", request.key) }, nameOrDash(request.id)),
      request.code && make("span", { class: "code" }, ` ${request.code}`)),
    make("p", { class: "note" }, [request.app, request.device_token, request.worker].filter(Boolean).join(" · "))));

function one({ request, steps = [], result }) {
  if (!request) return [crumbs("Find", "#/find", "Request"), nothing("This request is not in the history")];
  return [
    crumbs("Find", searchAddress(), request.id),
    heading(request.id, outcomeMark(request.outcome)),
    problemOf(tokenKey(request)),
    facts([
      ["App", request.app], ["Device token", token(request)], ["Code", request.code], ["Worker", request.worker],
      ["Returns", request.outcome === "waiting" && returns(steps.findLast((entry) => entry.event === "waits"))],
    ]),
    steps.length > 0 ? make("ol", { class: "timeline", key: "steps" }, stepItems(steps)) : note("No step is recorded."),
    result && make("details", { key: "result" }, make("summary", {}, "Result message"),
      make("pre", { class: "sample", tabindex: "0", role: "region", "aria-label": "Result message" },
        JSON.stringify(result, null, 2))),
  ];
}

const tokenKey = (request) => `token ${request.key}`;

// Returns the device token, with a button that reveals the whole token.
function token(request) {
  if (!request.device_token || !may("operate")) return request.device_token;
  const key = tokenKey(request);
  const attributes = { class: "small", disabled: isAsked(key) };
  return make("span", { class: "buttons" }, make("code", {}, valueOf(key)?.value ?? request.device_token),
    valueOf(key) ? button("Hide", () => hide(key), attributes)
      : button(isAsked(key) ? "Revealing…" : "Reveal", () => reveal(key, { kind: "token", request: request.key }),
        attributes));
}

// Returns the moment at which a waiting request returns to its request queue.
function returns(entry) {
  if (!Number.isFinite(entry?.until)) return null;
  const seconds = (entry.until - Date.now()) / 1000;
  return seconds >= 1 ? `${moment(entry.until)}, in ${duration(seconds)}` : `${moment(entry.until)}, due now`;
}

const searchAddress = () => (hasAddress(search) ? address("find", "id", search.text) : "#/find");

function stepItems(steps) {
  const labels = labelsOf(steps);
  return steps.map((entry, index) => step(entry, index, labels[index]));
}

const attemptPattern = /^attempt (\d+)\b[:,]? */;

const roundsOf = ({ rounds }) => (Number.isFinite(rounds) && rounds > 1 ? rounds : 1);

// Returns the events of the steps, with the numbers of attempts. The console sends only some of the numbers, and the
// history of a request keeps only its newest entries.
function labelsOf(steps) {
  const numberOf = ({ text }) => Number(attemptPattern.exec(text ?? "")?.[1] ?? NaN);
  const attempts = steps.filter(({ event }) => event === "attempt");
  const known = attempts.findIndex((entry) => Number.isFinite(numberOf(entry)));
  const before = attempts.slice(0, Math.max(known, 0)).reduce((sum, entry) => sum + roundsOf(entry), 0);
  let next = known === -1 ? 1 : Math.max(numberOf(attempts[known]) - before, 1);
  return steps.map((entry) => {
    if (entry.event !== "attempt") return entry.event;
    const first = Number.isFinite(numberOf(entry)) ? numberOf(entry) : next;
    next = first + roundsOf(entry);
    return next - first > 1 ? `attempts ${first} to ${next - 1}:` : `attempt ${first}:`;
  });
}

// Returns the code and the text of a step. Omits the words that the text repeats from the event, and the repeated one
// of code and text.
function detailsOf({ event, code, text }) {
  const rest = (text ?? "").replace(attemptPattern, "").trim();
  const added = rest === event ? "" : rest.startsWith(`${event} `) ? rest.slice(event.length + 1) : rest;
  return { code: added !== code && code && added.includes(code) ? null : code, text: added === code ? "" : added };
}

function step(entry, index, label) {
  const { code, text } = detailsOf(entry);
  const rounds = entry.event !== "attempt" && roundsOf(entry) > 1 && plural(entry.rounds, "round");
  const extent = [rounds, entry.until && `until ${moment(entry.until)}`].filter(Boolean).join(", ");
  return make("li", { key: `${index} ${entry.event}`, class: `step ${entry.event}`, "data-item": true, tabindex: "-1" },
    make("time", {}, Number.isFinite(entry.at) ? timeOfDay(entry.at, { milli: true }) : "–"),
    make("div", {},
      make("p", {}, make("strong", {}, label), code && [" ", make("span", { class: "code" }, code)],
        text && ` ${text}`, extent && ` (${extent})`),
      make("p", { class: "note" }, [entry.queue, entry.worker].filter(Boolean).join(" · "))));
}

// Focuses the field of the search, on this page or after its opening.
export function focusField() {
  const select = () => byID("find-text")?.select();
  if (byID("find-text")) return select();
  if (!current()?.history) return go("find");
  // The page's own handler of the event has drawn the form before.
  addEventListener("hashchange", select, { once: true });
  go("find");
}
