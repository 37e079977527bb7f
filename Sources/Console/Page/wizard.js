// The five steps of a redrive, as the page Dead letters shows them.

import { icon, make } from "./dom.js";
import { choice } from "./fields.js";
import { isStopped, planned, problemOf, stageOf } from "./outcome.js";
import { button, crumbs, field, heading, mark, note, nothing, roleNote } from "./parts.js";
import * as redrive from "./redrive.js";
import { address, go as open } from "./router.js";
import * as run from "./run.js";
import { may } from "./session.js";
import { kindOf } from "./watch.js";
import { formatCount, plural } from "./words.js";

const rates = [["10", "10/s"], ["50", "50/s"], ["200", "200/s"], ["1000", "1,000/s"], ["", "As fast as possible"]];
const stopPercents = [["5", "5 %"], ["10", "10 %"], ["20", "20 %"], ["50", "50 %"], ["", "Never"]];

// Draws the redrive of a group. `group`: the group with its filter; null if the history has no such group any more.
export function wizard(id, group, title) {
  const top = [crumbs(title, address("dead", id), "Redrive"), heading(`Redrive ${title}`)];
  if (!may("operate")) return [...top, roleNote("operate")];
  if (!redrive.isOf(id)) {
    if (redrive.isBegun()) return [...top, other(id, group, title)];
    if (!group) return [...top, gone()];
    redrive.begin({ group: id, title, where: group.where });
  }
  const state = redrive.redrive();
  return [...top, stages(state), panel(state)];
}

const gone = () => nothing("This group has no dead letter",
  "It was redriven or dropped, or is older than the history.");

const other = (id, group, title) => make("div", { class: "quiet", key: "other" },
  make("p", {}, `This tab has another redrive: ${redrive.redrive().title}.`),
  make("div", { class: "buttons" }, button("Show it", redrive.show, { class: "main" }),
    group && button("Begin a new one", () => {
      redrive.begin({ group: id, title, where: group.where });
      redrive.go("choose");
    })));

// The list of all steps with their results.
function stages(state) {
  const at = redrive.steps.findIndex(([name]) => name === state.step);
  return make("ol", { class: "stages", key: "stages", "aria-label": "Steps" },
    redrive.steps.map(([name, title], index) => {
      const isDone = index < at || (name === "rest" && state.rest?.stage === "done");
      return make("li", { key: name, class: isDone ? "done" : null, "aria-current": index === at ? "step" : null },
        make("span", { class: "ordinal" }, String(index + 1)), make("span", {}, title),
        isDone && [icon("good"), make("span", { class: "unseen" }, "done")],
        make("span", { class: "note" }, resultOf(name, state)));
    }));
}

function resultOf(name, { count, first }) {
  if (name === "dry-run" && Number.isFinite(count)) return formatCount(count);
  return name === "first" && first?.ids?.length > 0 ? `${first.ids.length} sent` : null;
}

const panels = new Map([
  ["choose", choose], ["dry-run", dryRun], ["first", first], ["watch", watch], ["rest", rest],
]);

function panel(state) {
  const index = redrive.steps.findIndex(([name]) => name === state.step);
  return make("div", { class: "panel wizard", key: `panel ${state.step}` },
    make("h3", { id: "step-heading", tabindex: "-1" },
      `Step ${index + 1} of ${redrive.steps.length}: ${redrive.steps[index][1]}`),
    panels.get(state.step)(state));
}

const buttons = (...list) => make("div", { class: "buttons", key: "buttons" }, list);

// The state of a plan in the making: its error, or what the console does.
const making = ({ error, isPlanning, where }) => [
  problemOf(error), error?.code === "filter" && placeOf(where.trim(), error.details.offset),
  isPlanning && make("p", { key: "planning" }, mark("busy", "Reading the queue…")),
];

// Returns the part of the filter that begins at an error. `offset`: the number of bytes before it.
function placeOf(where, offset) {
  if (!Number.isFinite(offset)) return null;
  const rest = new TextDecoder().decode(new TextEncoder().encode(where).slice(offset));
  return note(rest === "" ? "The error is at the end of the filter." : ["The error is at: ", make("code", {}, rest)]);
}

function choose(state) {
  return make("form", { class: "form", key: "form", onsubmit: submit }, making(state),
    field("Filter", make("textarea", {
      name: "where", rows: "3", spellcheck: "false", autocapitalize: "none", autocomplete: "off",
      maxlength: "4096", oninput: (event) => redrive.change("where", event.currentTarget.value),
    }, state.where), "Compares class, code, app, path, id, age, header[\"x\"] or body.a.b. Empty: every dead letter."),
    field("Reason", make("input", {
      type: "text", name: "why", value: state.why, maxlength: "500", autocomplete: "off", required: true,
      oninput: (event) => redrive.change("why", event.currentTarget.value),
    }), "Everyone sees the reason in the audit. Repair the cause first."),
    note("The dry run sends nothing. It reads the queue, which counts as one failed delivery of each dead letter."),
    buttons(make("button", { class: "main", disabled: state.why.trim() === "" || state.isPlanning }, "Dry run"),
      button("Cancel", leave)));
}

function submit(event) {
  event.preventDefault();
  redrive.makePlan("dry-run");
}

function leave() {
  const { group } = redrive.redrive();
  redrive.end();
  open("dead", group);
}

const back = (step) => button("Back", () => redrive.go(step));

function dryRun(state) {
  const { plan, isPlanning } = state;
  return [
    making(state), plan && planned(plan), plan && invalid(plan),
    plan === null && !isPlanning && note("The plan is out of date."),
    buttons(plan === null
      ? button("Dry run", () => redrive.makePlan("dry-run"), { class: "main", disabled: isPlanning })
      : plan.count > 0 && button("Plan the first 10", () => redrive.makePlan("first"),
        { class: "main", disabled: isPlanning }), back("choose")),
  ];
}

const invalid = (plan) => plan.invalid > 0 && make("p", { class: "gap" }, icon("warn"), make("span", {},
  `${plural(plan.invalid, "dead letter")} would fail again, and stay in the queue. Correct them with Edit.`));

// The confirmation of a plan, or the course of its action. `label(plan)`: the label of the confirmation. `more`: a
// button beside it. `after`: buttons after the end.
function course(state, action, { label, more, after }) {
  if (action !== null) {
    const hasEnded = ["done", "failed"].includes(action.stage);
    return [stageOf(action), buttons(hasEnded ? after : courseButtons(action))];
  }
  const { plan, isPlanning, error } = state;
  return [
    making(state), plan && planned(plan, redrive.changePhrase),
    plan === null && !isPlanning && !error && note("The plan reads the queue, which can take some seconds."),
    plan?.count === 0 && note("No further dead letter matches."),
    buttons(plan === null ? button(error ? "Try again" : "Make the plan", () => redrive.makePlan(state.step),
      { class: "main", disabled: isPlanning })
      : plan.count > 0 && button(label(plan), redrive.send, { class: "main", disabled: !redrive.canSend() }), more),
  ];
}

function courseButtons(action) {
  switch (action.stage) {
    case "running": return action.isStoppable && button(action.isStopping ? "Stopping…" : "Stop",
      () => run.stop(action), { disabled: action.isStopping });
    case "unanswered": return [
      button("Ask again", () => run.ask(action)), button("Send again", () => run.send(action)),
      button("Discard", leave),
    ];
    case "refused": return [button("Make a new plan", redrive.again, { class: "main" }), button("Cancel", leave)];
    default: return null;
  }
}

function first(state) {
  const sent = state.first?.ids.length ?? 0;
  return course(state, state.first, {
    label: (plan) => `Send ${formatCount(plan.count)}`, more: back("dry-run"),
    after: [sent > 0 && button(`Watch ${plural(sent, "request")}`, () => redrive.go("watch"), { class: "main" }),
      button("Close", leave)],
  });
}

function outcomes(state) {
  const { first: action, outcomes: known, watchProblem } = state;
  return [
    make("p", { class: "summary", key: "summary" }, redrive.summary()),
    watchProblem && make("p", { class: "failed", key: "problem" }, `The history cannot be read: ${watchProblem}.`),
    make("details", { key: "outcomes", open: state.step === "watch" }, make("summary", {}, "Requests"),
      make("ul", { class: "lines" }, (action?.ids ?? []).map((id) => outcome(id, known[id])))),
  ];
}

const outcome = (id, { word, code } = { word: "sent", code: null }) => make("li", { key: id, class: "outcome" },
  mark(kindOf(word), word === "sent" ? "no result yet" : word), " ",
  make("a", { href: address("find", "id", id) }, id), code && make("span", { class: "code" }, ` ${code}`));

function watch(state) {
  const sent = state.first?.ids.length ?? 0;
  const isAll = Number.isFinite(state.count) && sent >= state.count;
  return [
    state.first && make("div", { key: "result" }, stageOf(state.first)),
    outcomes(state),
    making(state),
    buttons(!isAll && button("Plan the rest", () => redrive.makePlan("rest"),
      { class: "main", disabled: state.isPlanning }), button(isAll ? "Close" : "Leave the rest", leave,
      { class: isAll ? "main" : null })),
  ];
}

function rest(state) {
  const action = state.rest;
  return [
    outcomes(state),
    action === null && make("div", { class: "pair", key: "fields" },
      field("Rate", choice("rate", rates, state.rate, (rate) => redrive.change("rate", rate))),
      field("Stop above", choice("stop", stopPercents, state.stopPercent,
        (percent) => redrive.change("stopPercent", percent)), "Share of at least 20 results that are not accepted.")),
    course(state, action, {
      label: (plan) => `Send the rest${state.rate === null ? "" : ` at ${formatCount(state.rate)}/s`}`
        + ` (${formatCount(plan.count)})`,
      more: button("Leave the rest", leave), after: button("Close", leave, { class: "main" }),
    }),
    action && isStopped(action) && note("The other dead letters stay in the queue."),
  ];
}
