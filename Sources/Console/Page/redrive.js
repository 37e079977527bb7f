// The redrive of a group of dead letters in five steps. The tab keeps it, so that a reload continues at the same step
// and finds its actions by their ids.

import { APIError } from "./api.js";
import { announce } from "./announcer.js";
import * as bar from "./bar.js";
import { byID } from "./dom.js";
import { address, redraw } from "./router.js";
import * as run from "./run.js";
import { hasToken, keys, remove, restore, store } from "./stored.js";
import { read, summaryOf } from "./watch.js";

const firstMax = 10;
// Minimum time between two readings of the outcomes.
const watchMilliseconds = 2000;
const rateDefault = 50;
const stopPercentDefault = 20;

export const steps = [
  ["choose", "Choose"], ["dry-run", "Dry run"], ["first", `Send ${firstMax}`], ["watch", "Watch"], ["rest", "Rest"],
];

// The redrive of this tab; null without one. Members of the current step:
// `plan`: the preview of `wanted`, or null. `run`: the action that was begun from it, or null.
let current = null;

export const redrive = () => current;

export const isOf = (group) => current?.group === group;

// The title of a group, which the history may have no more; null if the redrive is of another group.
export const titleOf = (group) => (isOf(group) ? current.title : null);

// Whether a redrive has sent requests, and has not ended.
export const isBegun = () => Boolean(current?.first) && (current.rest === null || run.isPending(current.rest));

// Begins the redrive of a group at its first step.
export function begin({ group, title, where }) {
  end();
  current = {
    group, title, where, why: "", step: "choose", until: null, count: null, plan: null, wanted: null, phrase: "",
    error: null, isPlanning: false, planNumber: 0, first: null, rest: null, outcomes: {}, rate: rateDefault,
    stopPercent: stopPercentDefault, watchProblem: null,
  };
}

// Forgets the redrive. A running action continues.
export function end() {
  forget();
  remove(keys.redrive);
}

// Ends the view of the redrive at the end of a session. The redrive remains stored for its operator.
export function forget() {
  clearTimeout(watchTimer);
  run.forget(current?.first ?? null);
  run.forget(current?.rest ?? null);
  current = null;
  bar.update();
}

// Continues the operator's redrive of this tab after a reload or a login.
export function resume() {
  if (current !== null) return;
  const kept = restore(keys.redrive);
  if (kept === null) return;
  current = { ...kept, error: null, isPlanning: false, planNumber: 0, phrase: "", watchProblem: null };
  for (const name of ["first", "rest"]) if (kept[name]) revive(name);
  redraw();
  for (const action of [current.first, current.rest]) if (run.isPending(action)) run.ask(action);
}

function revive(name) {
  const action = Object.assign(current[name], { error: null, progress: null });
  if (run.isPending(action)) Object.assign(action, { stage: "unanswered", wasUnanswered: true });
  Object.assign(action, connections(current, name));
}

function save() {
  if (current === null) return;
  const { group, title, where, why, step, until, count, plan, wanted, outcomes, rate, stopPercent } = current;
  // Without its filter, the redrive cannot continue after a reload.
  if (hasToken(where)) return remove(keys.redrive);
  store(keys.redrive, {
    group, title, where, why, step, until, count, plan, wanted, outcomes, rate, stopPercent,
    first: kept(current.first), rest: kept(current.rest),
  });
}

const kept = (action) => action && {
  id: action.id, title: action.title, request: action.request, stage: action.stage, result: action.result,
  ids: action.ids, wasUnanswered: action.wasUnanswered,
};

export const isShown = () => current !== null && location.hash === address("dead", current.group, "redrive");

export function show() {
  location.hash = address("dead", current.group, "redrive");
}

// The action that runs while its steps are not shown; null without one.
export function hidden() {
  const action = [current?.first, current?.rest].find(run.isPending);
  return action && !isShown() ? { title: action.title, action, show } : null;
}

// Records an entered value. The plan depends on it.
export function change(name, value) {
  Object.assign(current, {
    [name]: value, plan: null, phrase: "", error: null, isPlanning: false, planNumber: current.planNumber + 1,
    ...(name === "where" ? { until: null, count: null } : {}),
  });
  save();
  redraw();
}

export function changePhrase(text) {
  current.phrase = text;
  redraw();
}

// Shows a step.
export function go(step) {
  Object.assign(current, {
    step, plan: null, phrase: "", error: null, isPlanning: false, planNumber: current.planNumber + 1,
  });
  arrive();
}

// Draws a new step. The focus moves to its heading, unless the operator works elsewhere.
function arrive() {
  save();
  bar.update();
  if (!isShown()) return;
  redraw();
  const index = steps.findIndex(([name]) => name === current.step);
  announce("redrive", `Step ${index + 1} of ${steps.length}: ${steps[index][1]}.`);
  if (byID("page").contains(document.activeElement)) byID("step-heading")?.focus();
  else keepFocus();
}

// Moves the focus of a button that is disabled or removed to the heading of the step.
function keepFocus() {
  if ([document.body, byID("page")].includes(document.activeElement)) byID("step-heading")?.focus();
}

function argumentsOf(step) {
  const { where, until, rate, stopPercent } = current;
  const chosen = { where: where.trim() === "" ? null : where.trim(), until };
  switch (step) {
    case "first": return { ...chosen, max: firstMax, rate_per_second: null, stop_above_percent: null };
    case "rest": return { ...chosen, max: null, rate_per_second: rate, stop_above_percent: stopPercent };
    // The cut-off of the dry run holds for the other steps: later failures stay.
    default: return { ...chosen, until: null, max: null, rate_per_second: null, stop_above_percent: null };
  }
}

// Makes the plan of a step, and shows the step. An answer is ignored if the operator has changed a value since.
export async function makePlan(step) {
  const [of, number] = [current, current.planNumber + 1];
  const wanted = { action: "redrive", arguments: argumentsOf(step), why: of.why.trim() };
  Object.assign(of, { plan: null, error: null, isPlanning: true, planNumber: number });
  redraw();
  const isStale = () => of !== current || of.planNumber !== number;
  try {
    const plan = await run.planOf(wanted);
    if (isStale()) return;
    Object.assign(of, { plan, wanted, isPlanning: false, phrase: "" });
    if (step === "dry-run") Object.assign(of, { until: plan.arguments?.until ?? null, count: plan.count });
    if (of.step === step) {
      save();
      redraw();
      keepFocus();
    } else {
      of.step = step;
      arrive();
    }
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (isStale()) return;
    Object.assign(of, { error: run.describe(error), isPlanning: false });
    redraw();
    keepFocus();
  }
}

// Whether the operator can send the plan of the step now.
export const canSend = () => current.plan !== null && current.plan.count > 0 && !current.isPlanning
  && (!current.plan.phrase || current.phrase === current.plan.phrase);

// Sends the plan of the step `first` or `rest`. The action prevents a second request of the same plan.
export async function send() {
  if (!canSend() || current[current.step]) return;
  const [of, name, id] = [current, current.step, run.newID()];
  of[name] = {
    id, title: `Redrive ${of.title}`, request: run.requestOf(id, of.wanted, of.plan, of.phrase), ids: [],
    isStoppable: true, ...connections(of, name),
  };
  Object.assign(of, { plan: null, phrase: "" });
  const sending = run.send(of[name]);
  keepFocus();
  await sending;
}

const connections = (of, name) => ({
  changed() {
    if (of !== current) return;
    save();
    bar.update();
    if (isShown()) redraw();
  },
  finished({ state }) {
    if (of === current && name === "first" && state === "done" && of.step === "first") go("watch");
  },
});

// Makes a new plan after the console has refused the last one.
export function again() {
  current[current.step] = null;
  makePlan(current.step);
}

let watchTimer = null;
let isWatching = false;
let isWatchStale = false;
let watchedAt = 0;

const openIDs = () => (current?.first?.ids ?? []).filter((id) => !current.outcomes[id]?.isLast);

export const summary = () => summaryOf(current.first?.ids ?? [], current.outcomes);

// Reads the outcomes of the first requests again, for example after a change of the history.
export async function watch() {
  clearTimeout(watchTimer);
  if (!isShown() || !["watch", "rest"].includes(current.step)) return;
  if (isWatching) {
    isWatchStale = true;
    return;
  }
  const ids = openIDs();
  if (ids.length === 0) return;
  const left = watchedAt + watchMilliseconds - Date.now();
  if (left > 0) {
    watchTimer = setTimeout(watch, left);
    return;
  }
  [isWatching, isWatchStale, watchedAt] = [true, false, Date.now()];
  const [of, earlier] = [current, summary()];
  const isEnded = () => of !== current || !isShown();
  try {
    await read(ids, of.until ?? 0, (id, outcome) => {
      of.outcomes[id] = outcome;
    }, isEnded);
    of.watchProblem = null;
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    of.watchProblem = error.message;
    watchTimer = setTimeout(watch, watchMilliseconds);
  } finally {
    isWatching = false;
  }
  if (isEnded()) return;
  save();
  if (summary() !== earlier) announce("redrive", `${summary()}.`);
  redraw();
  if (isWatchStale) watch();
}
