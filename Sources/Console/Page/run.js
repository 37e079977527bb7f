// The course of an action from its confirmation to its outcome. An action is an object with the members `title`, `id`,
// `request`, `stage` and `changed()`, which draws it, and optionally `finished(outcome)`.
//
// The stages:
// `sent`: the request has no answer yet. `unanswered`: the console did not respond to it.
// `running`, `done`, `failed`: as the console reports. `refused`: the console refused the request.

import { APIError, call } from "./api.js";
import { announce } from "./announcer.js";
import { reload } from "./router.js";

const progressMilliseconds = 1000;
// The console may read a queue for a plan.
const planSeconds = 60;

export const isPending = (action) => ["sent", "unanswered", "running"].includes(action?.stage);

// Returns the plan of an action. `wanted`: the action, its arguments and the reason.
export const planOf = (wanted) => call("POST", "/api/actions?preview=1", wanted, { waitSeconds: planSeconds });

// Returns the request that begins a plan. The arguments of the plan include the console's defaults.
export const requestOf = (id, wanted, plan, phrase) => ({
  id, ...wanted, arguments: plan.arguments ?? wanted.arguments, expect: plan.expect,
  ...(plan.phrase ? { phrase } : {}),
});

// Sends the request. After a missing answer, the id makes a repeat harmless.
export async function send(action) {
  Object.assign(action, { stage: "sent", error: null });
  action.changed();
  await follow(action, () => call("POST", "/api/actions", action.request));
}

const pathOf = ({ id }) => `/api/actions/${encodeURIComponent(id)}`;

// Asks for the state of an action.
export const ask = (action) => follow(action, () => call("GET", pathOf(action)));

export async function stop(action) {
  Object.assign(action, { isStopping: true, stopProblem: null });
  action.changed();
  await follow(action, async () => await call("DELETE", pathOf(action)) ?? call("GET", pathOf(action)),
    { isStop: true });
}

// Ends the view of an action. A running action continues.
export function forget(action) {
  if (action === null) return;
  clearTimeout(action.timer);
  action.isForgotten = true;
}

async function follow(action, request, { isStop = false } = {}) {
  try {
    const answer = await request();
    if (action.isForgotten) return;
    record(action, answer);
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (action.isForgotten) return;
    recordError(action, error, isStop);
  }
  action.changed();
}

function record(action, { state, progress = null, result = null, error = null, ids = [], stoppable = true }) {
  Object.assign(action, {
    stage: state, progress, result, ids, isStoppable: stoppable,
    error: error ? { error: textOf(error), remedy: null } : state === "running" ? action.stopProblem ?? null : null,
  });
  clearTimeout(action.timer);
  if (state === "running") {
    action.timer = setTimeout(ask, progressMilliseconds, action);
    return;
  }
  announce("action", state === "done" ? `${action.title}: done.` : `${action.title}: failed.`);
  action.finished?.({ state, result });
  reload();
}

const textOf = (error) => (typeof error === "string" ? error : error.error ?? "The action failed.");

function recordError(action, error, isStop) {
  clearTimeout(action.timer);
  action.error = describe(error);
  if (error.isGone && action.stage !== "running") {
    Object.assign(action, { stage: "unanswered", wasUnanswered: true });
  } else if (error.status === 404 && action.stage === "unanswered") {
    action.error = {
      error: "The console does not know this action: the request did not arrive, or the console restarted.",
      remedy: "Check the page Audit before you send the action again.",
    };
  } else if (action.stage === "running" && error.status === 404) {
    Object.assign(action, { stage: "unanswered", wasUnanswered: true });
  } else if (action.stage === "running") {
    // The reason why the console does not stop the action remains while the action runs.
    if (isStop && !error.isGone) action.stopProblem = action.error;
    action.isStopping = false;
    action.timer = setTimeout(ask, progressMilliseconds, action);
  } else {
    action.stage = "refused";
    announce("action", `${action.title}: refused.`);
  }
}

// The sentences of refusals that a new plan resolves.
const planProblems = new Map([
  ["expired", "The plan has expired, or an action has already used it. Make a new plan."],
  ["moved", "The state has changed since the plan was made. Make a new plan."],
]);

export const describe = (error) => ({
  error: error.isGone ? `The console is not available: ${error.message}.`
    : planProblems.get(error.code) ?? error.message,
  remedy: error.remedy, code: error.code, details: error.details,
});

// Returns a random UUID. `crypto.randomUUID` is missing on pages that are not on loopback or TLS.
export function newID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => digits.slice(from, to)).join("-");
}
