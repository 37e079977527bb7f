// The plan, the progress and the outcome of an action, as the dialog and the steps of a redrive show them.

import { commandLine, remedyOf } from "./copy.js";
import { make } from "./dom.js";
import * as fleet from "./fleet.js";
import { failure, field, mark, note } from "./parts.js";
import { formatCount, listOf, moment } from "./words.js";

// Returns the effect and the command of a plan. `changePhrase(text)`: receives the typed words if the plan wants them.
export const planned = ({ summary, command, phrase }, changePhrase = null) => [
  make("p", { class: "summary" }, summary),
  command && commandLine(command),
  phrase && changePhrase && field(["Type ", make("strong", {}, phrase), " to confirm"], make("input", {
    type: "text", name: "phrase", autocomplete: "off", spellcheck: "false", autocapitalize: "none",
    oninput: (event) => changePhrase(event.currentTarget.value),
  })),
];

// Returns the number of messages of a plan in parentheses, for the label of a button.
export const countOf = (plan) => (plan?.count > 1
  ? ` (${plan.at_most ? "at most " : ""}${formatCount(plan.count)})` : "");

export function progressText({ stage, progress }) {
  if (stage === "sent") return "sent";
  if (stage === "unanswered") return "no answer";
  return progress ? `${formatCount(progress.done)} of ${formatCount(progress.total)}` : "running";
}

// Returns the stage of an action, with the progress, the result or the error.
export function stageOf(action) {
  const problem = problemOf(action.error);
  switch (action.stage) {
    case "done": return make("p", { class: "result" },
      isStopped(action) ? mark("warn", "Stopped") : mark("good", "Done"), " ", action.result);
    case "failed": return [make("p", { class: "result" }, mark("bad", "Failed"), " ", action.result), problem];
    case "refused": return [make("p", { class: "result" }, mark("bad", "Refused"), " ", refusalNote(action)), problem];
    case "unanswered": return [make("p", { class: "result" }, mark("warn", "No answer"),
      " The action may have run. Its id is kept, so a repeat runs it at most once."), problem];
    default: return [bar(action), problem];
  }
}

// An earlier request without an answer may have run the action.
const refusalNote = ({ wasUnanswered }) => (wasUnanswered
  ? "An earlier request had no answer, and may have run the action. Check the page Audit." : "Nothing was changed.");

export const isStopped = ({ stage, result }) => stage === "done" && /^stopped\b/.test(result ?? "");

const bar = (action) => make("div", { class: "progress" }, make("p", {}, mark("busy", progressText(action))),
  make("progress", {
    "aria-label": "Progress", max: action.progress?.total || null,
    value: action.progress?.total ? action.progress.done : null,
  }));

const stillOpen = "still open: ";

// Joins the workers of a result that have the same problem: "w1 and w2: still open: …".
export function groupWorkers(text) {
  const known = new Set(fleet.workers().map(({ worker }) => worker));
  // The workers of each problem. A piece without a worker has an empty list.
  const pieces = [];
  for (const piece of text.split("; ")) {
    const end = piece.indexOf(": ");
    const [worker, problem] = [piece.slice(0, end), piece.slice(end + 2).replace(/\.$/, "")];
    const isProblem = end > 0 && (known.has(worker) || problem.startsWith(stillOpen));
    const same = isProblem && pieces.find((other) => other.workers.length > 0 && other.text === problem);
    if (same) same.workers.push(worker);
    else pieces.push(isProblem ? { workers: [worker], text: problem } : { workers: [], text: piece });
  }
  return pieces.map(({ workers, text: problem }) =>
    (workers.length > 0 ? `${listOf([...new Set(workers)])}: ${problem}` : problem)).join("; ");
}

// Returns the notice of an error, with the holder of a lock and the problem of a body. Screen readers announce it.
export const problemOf = (error) => error && make("div", { role: "alert", key: "alert" },
  failure(groupWorkers(error.error), [
    remedyOf(error.remedy), holderOf(error.details?.holder), positionOf(error.details?.problem),
  ]));

function holderOf(holder) {
  if (!holder) return null;
  const since = Number.isFinite(holder.since) && `since ${moment(holder.since)}`;
  return note(["Held by", holder.by, since, holder.console && `on ${holder.console}`].filter(Boolean).join(" "), ".");
}

// Returns the place of a problem in a body.
export function positionOf(problem) {
  if (!problem) return null;
  const place = Number.isFinite(problem.line) && `line ${problem.line}, column ${problem.column}`;
  return note([problem.message, problem.reason, place].filter(Boolean).join(" · "));
}
