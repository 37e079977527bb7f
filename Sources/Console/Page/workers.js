// The page Workers: the workers of the fleet, and one worker.

import { commandLine } from "./copy.js";
import { make } from "./dom.js";
import * as fleet from "./fleet.js";
import { crumbs, facts, field, heading, mark, nameOrDash, note, nothing } from "./parts.js";
import { address, redraw } from "./router.js";
import { commandOf } from "./session.js";
import { table } from "./table.js";
import { countOrDash, duration, formatCount, formatRate, plural } from "./words.js";

// A larger difference between the clocks is shown. It is never corrected.
const skewMillisecondsMax = 2000;

let wanted = "";
let shows = "all";

export const page = {
  name: "workers", title: "Workers", uses: ["fleet", "pauses"],
  load: () => fleet.load(),
  draw(data, [name]) {
    if (name !== undefined) return one(data, name);
    if (data.workers.length === 0) return [heading("Workers"), noWorkers()];
    const attention = data.workers.filter(fleet.isAttentionNeeded);
    const rest = data.workers.filter((worker) => !fleet.isAttentionNeeded(worker));
    const listed = (shows === "attention" ? attention : [...attention, ...rest]).filter(matches);
    return [
      heading("Workers"), filters(data.workers.length, attention.length),
      listed.length > 0 ? table("Workers", columns(data), listed, keyOf)
        : nothing("No worker matches", "Change the filter to see other workers."),
      data.unreported_consumers > 0 && note(mark("warn", plural(data.unreported_consumers, "consumer")),
        " of the request queues belong to workers that do not report: older than 0.2, without rights, or cut off."),
    ];
  },
};

const noWorkers = () => nothing("No worker has reported yet",
  "Workers report to this console if their configuration has the section fleet.",
  "Declare its streams, then start a worker:", commandLine(commandOf("topology_apply")),
  commandLine(commandOf("worker")));

const keyOf = (worker) => `${worker.worker} ${worker.boot_id ?? ""}`;

function matches(worker) {
  const text = wanted.trim().toLowerCase();
  return text === "" || [worker.worker, worker.version, fleet.stateOf(worker).word, ...(worker.queues ?? []),
    ...(worker.reasons ?? [])].some((value) => String(value).toLowerCase().includes(text));
}

const filters = (all, attention) => make("div", { class: "filters", key: "filters" },
  field("Filter", make("input", {
    type: "text", value: wanted, autocomplete: "off", spellcheck: "false", placeholder: "Name, version, state or queue",
    oninput: (event) => {
      wanted = event.currentTarget.value;
      redraw();
    },
  })),
  make("fieldset", { class: "choice" }, make("legend", { class: "unseen" }, "Show"),
    choice("all", `All ${formatCount(all)}`), choice("attention", `Need attention ${formatCount(attention)}`)));

const choice = (value, text) => make("button", {
  type: "button", key: value, "aria-pressed": String(shows === value),
  onclick: () => {
    shows = value;
    redraw();
  },
}, text);

const stateCell = (worker) => {
  const { kind, word } = fleet.stateOf(worker);
  return mark(kind, word);
};

const columns = (data) => [
  { name: "Worker", sort: (worker) => worker.worker,
    cell: (worker) => make("a", { href: address("workers", worker.worker) }, nameOrDash(worker.worker)) },
  { name: "State", sort: (worker) => fleet.stateOf(worker).kind, cell: stateCell },
  { name: "Accepted", isNumber: true, sort: (worker) => worker.rates?.accepted,
    cell: (worker) => rate(worker, "accepted") },
  { name: "Refused", isNumber: true, sort: (worker) => worker.rates?.refused,
    cell: (worker) => rate(worker, "refused") },
  { name: "In flight", isNumber: true, sort: (worker) => worker.in_flight,
    cell: (worker) => countOrDash(worker.in_flight) },
  { name: "Consumers", isNumber: true, wide: true, sort: (worker) => worker.consumers,
    cell: (worker) => countOrDash(worker.consumers) },
  { name: "Pauses", wide: true, sort: (worker) => worker.pauses_revision, cell: (worker) => revision(worker, data) },
  { name: "Version", wide: true, sort: (worker) => worker.version, cell: (worker) => worker.version },
  { name: "Uptime", isNumber: true, wide: true, sort: (worker) => worker.uptime_seconds,
    cell: (worker) => duration(worker.uptime_seconds ?? 0) },
  { name: "Last report", isNumber: true, sort: (worker) => worker.reported_seconds_ago,
    cell: (worker) => `${duration(worker.reported_seconds_ago)} ago` },
];

const rate = (worker, name) => (worker.presence === "reporting" ? formatRate(worker.rates?.[name]) : "–");

function revision(worker, data) {
  const [own, newest] = [worker.pauses_revision, data.pauses?.revision];
  if (!Number.isFinite(own)) return mark("warn", "none read");
  return Number.isFinite(newest) && own < newest ? mark("warn", `${own} of ${newest}`) : String(own);
}

function skew({ clock_skew_ms: milliseconds = 0 }) {
  if (Math.abs(milliseconds) <= skewMillisecondsMax) return null;
  return mark("warn", `${duration(Math.abs(milliseconds) / 1000)} ${milliseconds > 0 ? "ahead" : "behind"}`);
}

function one(data, name) {
  const worker = data.workers.find((other) => other.worker === name);
  if (!worker) {
    return [crumbs("Workers", "#/workers", name), heading(name),
      nothing("This worker does not report", "It has ended, or its name has changed at a restart.",
        make("a", { href: "#/workers" }, "See all workers"))];
  }
  return [
    crumbs("Workers", "#/workers", name), heading(name, stateCell(worker)),
    (worker.reasons ?? []).map((reason) => make("p", { key: `reason ${reason}` }, mark("warn", reason))),
    facts([
      ["Last report", `${duration(worker.reported_seconds_ago)} ago`], ["Version", worker.version],
      ["Uptime", duration(worker.uptime_seconds ?? 0)], ["In flight", countOrDash(worker.in_flight)],
      ["Accepted", rate(worker, "accepted")], ["Refused", rate(worker, "refused")], ["Failed", rate(worker, "failed")],
      ["Pauses revision", revision(worker, data)], ["Consumers", countOrDash(worker.consumers)],
      ["Queues", (worker.queues ?? []).join(", ")],
      ["Clock", skew(worker)],
      ["Process", worker.boot_id],
    ]),
    part("Open breakers", worker.breakers, (breaker) => ["bad", `${breaker.code} ${breaker.route}`,
      `${breaker.sentence ?? ""} Open for ${duration(breaker.seconds_open ?? 0)}.`]),
    part("Limited apps", worker.limited_apps, (app) => ["warn", app.app,
      `${formatCount(app.in_flight ?? 0)} in flight, ${formatCount(app.waiting ?? 0)} waiting, `
      + `limited for ${duration(app.seconds_limited ?? 0)}.`]),
    part("Pauses of this worker", worker.pauses, (pause) => ["paused", pause.scope,
      `${pause.by}: “${pause.why}”, paused for ${duration(pause.seconds_paused ?? 0)}.`]),
    totals(worker.totals),
  ];
}

const part = (title, list, describe) => (list ?? []).length > 0 && make("div", { class: "part", key: title },
  make("h3", {}, title), make("ul", { class: "lines" }, list.map((element) => {
    const [kind, name, text] = describe(element);
    return make("li", { key: name }, mark(kind, name), " ", text);
  })));

const totals = (values) => values && make("div", { class: "part", key: "totals" },
  make("h3", {}, "Totals since the start of the process"),
  facts(Object.entries(values).filter(([, count]) => Number.isFinite(count))
    .map(([name, count]) => [name.replaceAll("_", " "), formatCount(count)])));
