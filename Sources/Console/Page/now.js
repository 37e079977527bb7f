// The page Now: what stops pushes, and what an operator can do about it.

import { call } from "./api.js";
import { commandLine, remedyOf } from "./copy.js";
import { make } from "./dom.js";
import * as fleet from "./fleet.js";
import { button, card, cardHead, heading, mark, nameOrDash, note, nothing, roleNote } from "./parts.js";
import { isPaused, isScope, pauseButton, pauseCard, probe } from "./pauses.js";
import { address } from "./router.js";
import { commandOf, offers } from "./session.js";
import { bringBackButtons } from "./waits.js";
import { agree, countOrDash, duration, formatCount, formatRate, plural, someOf, timeOfDay } from "./words.js";

const silentShownMax = 10;

export const page = {
  name: "now", title: "Now", uses: ["fleet", "pauses", "queues", "actions", "history"], ticks: true,
  async load() {
    const answer = await call("GET", "/api/causes", undefined, { keeps: true });
    return { ...answer, arrivedAt: Date.now() };
  },
  draw(data) {
    const { causes = [], pauses = [], silent = [], totals = {} } = data;
    const age = (Date.now() - data.arrivedAt) / 1000;
    const unreported = fleet.current()?.unreported_consumers ?? 0;
    const cards = [
      causes.map((cause) => causeCard(cause, pauses, age)), pauses.map(pauseCard), silentCard(silent, age),
      unreported > 0 && unreportedCard(unreported), historyCard(data.history_problem, age),
    ].flat().filter(Boolean);
    return [
      heading("Now", pauseButton(null)),
      figures(totals, causes),
      cards.length > 0 ? make("ul", { class: "cards", key: "cards" }, cards) : quiet(),
      roleNote("operate"),
    ];
  },
};

// The console counts the wait queues every 10 s, but the requests of a cause immediately. Causes may share requests.
function waitingOf(totals, causes) {
  if (!Number.isFinite(totals.waiting)) return null;
  return Math.max(totals.waiting, ...causes.map((cause) => cause.messages_waiting).filter(Number.isFinite));
}

const figures = (totals, causes) => make("ul", { class: "figures", key: "figures" }, [
  ["good", "accepted", formatRate(totals.accepted_per_second)],
  ["refused", "refused", formatRate(totals.refused_per_second)],
  ["waiting", "waiting", countOrDash(waitingOf(totals, causes))],
  ["dead", "dead letters", countOrDash(totals.dead_letters)],
  ["journal", "journal", Number.isFinite(totals.journal_seconds_behind)
    ? `${duration(totals.journal_seconds_behind)} behind` : null],
  ["workers", "workers", workersFigure(totals)],
].filter(([, , value]) => value !== null).map(([key, name, value]) =>
  make("li", { key }, make("strong", {}, value), " ", make("span", {}, name))));

// Returns the number of reporting workers, and the number of silent ones.
function workersFigure({ workers_reporting: reporting = 0, workers_silent: silent = 0 }) {
  return `${formatCount(reporting)}${silent > 0 ? ` + ${formatCount(silent)} silent` : ""}`;
}

function causeCard(cause, pauses, age) {
  const { code, scope, workers, apps = [], messages_waiting: waiting, next_probe_seconds: probeSeconds } = cause;
  const since = cause.since_seconds + age;
  const start = timeOfDay(Date.now() - since * 1000, { seconds: false });
  const extent = [
    apps.length > 0 && `${plural(apps.length, "app")} (${someOf(apps)})`,
    Number.isFinite(waiting) && `${plural(waiting, "request")} ${agree(waiting, "waits", "wait")}`,
    `${formatCount(workers)} of ${plural(cause.workers_total, "worker")} ${agree(workers, "reports", "report")} it`,
  ].filter(Boolean).join(" · ");
  return card(`cause ${code} ${cause.route ?? scope}`,
    cardHead("bad", [code, " ", make("span", { class: "scope" }, scope)], `since ${start} (${duration(since)})`),
    make("p", {}, cause.sentence),
    make("p", { class: "extent" }, extent),
    Number.isFinite(probeSeconds) && make("p", { class: "probe" }, nextProbe(probeSeconds - age)),
    remedyOf(cause.remedy),
    make("div", { class: "buttons" },
      offers("probe")
        && button("Probe now…", () => probe(scope), { class: "main", "aria-label": `Probe now: ${scope}` }),
      waiting !== 0 && bringBackButtons(cause),
      isScope(scope) && !isPaused(pauses, scope) && pauseButton(scope)));
}

const nextProbe = (seconds) => (seconds >= 1 ? `Next probe in ${duration(seconds)}.` : "A probe is due now.");

function silentCard(silent, age) {
  if (silent.length === 0) return null;
  const revision = fleet.current()?.pauses?.revision;
  const more = `All ${formatCount(silent.length)} silent workers`;
  return card("silent", cardHead("silent", `${plural(silent.length, "worker")} silent`),
    make("ul", { class: "lines" }, silent.slice(0, silentShownMax).map((worker) => make("li", { key: worker.worker },
      make("a", { href: address("workers", worker.worker) }, nameOrDash(worker.worker)),
      ` last report ${duration(worker.reported_seconds_ago + age)} ago`,
      Number.isFinite(worker.pauses_revision) && Number.isFinite(revision)
        ? `, pauses revision ${worker.pauses_revision} of ${revision}` : ""))),
    silent.length > silentShownMax && make("p", {}, make("a", { href: "#/workers" }, more)),
    note("A silent worker has exited without a last report, or has no connection to the broker."));
}

const unreportedCard = (count) => card("unreported", cardHead("warn", `${plural(count, "consumer")} without a report`),
  make("p", {}, "These consumers belong to workers that do not report: older than 0.2, without rights, or cut off. "
    + "Pauses of the fleet may not reach them."),
  make("p", {}, make("a", { href: "#/queues" }, "See the consumers of each queue")));

function historyCard(problem, age) {
  if (!problem) return null;
  const since = problem.since_seconds + age;
  return card("history", cardHead("warn", "The history has stopped", `since ${duration(since)}`),
    make("p", {}, problem.sentence), problem.remedy && note(problem.remedy));
}

function quiet() {
  if (fleet.workers().length === 0 && fleet.current()) {
    return nothing("No worker has reported yet",
      "Workers report to this console if their configuration has the section fleet.",
      commandLine(commandOf("topology_apply")),
      "Then start a worker:", commandLine(commandOf("worker")));
  }
  return make("div", { class: "quiet", key: "quiet" }, mark("good", "No open breaker, no pause, no silent worker."));
}
