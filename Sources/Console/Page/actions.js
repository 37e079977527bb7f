// The action of this tab's dialog: its plan, its confirmation, and its progress. A double click or a reload remains one
// action, because the page keeps the id until the operator closes the outcome or logs out.

import { APIError } from "./api.js";
import * as dialog from "./dialog.js";
import * as run from "./run.js";
import { refusal } from "./session.js";
import { hasToken, keys, remove, restore, store } from "./stored.js";

const previewMilliseconds = 350;

// In addition to the stages of its course, the action has the stage `asking`: the operator enters the arguments. `plan`
// is the preview of `planned`, or null.
let current = null;

// Opens the dialog of an action. `arguments`: fixed arguments. `fields`: names of the fields that the operator fills
// in, with the initial `values`. `role`: the role that the action needs at least. `note()`: what the operator must
// know. `isCostly`: the plan reads a queue, so that the operator asks for it. `isSecret`: neither arguments nor command
// may be stored. `finished(outcome)` is called at the end of the action.
export function open({
  action, title, confirm, role, fields, arguments: fixed, values = {}, note = null, isCostly = false, isSecret = false,
  finished = null,
}) {
  if (run.isPending(current)) return dialog.show(current);
  current = {
    action, title, confirm, fixed, fields, note, isCostly, isSecret, finished, stage: "asking", values, why: "",
    phrase: "", plan: null, planNumber: 0, isPlanning: false, error: refusal(role), isRefused: refusal(role) !== null,
    progress: null,
    changed: dialog.update,
  };
  dialog.show(current);
}

// The action that runs or has no answer; null without one.
export const pending = () => (run.isPending(current) ? current : null);

export const showPending = () => dialog.show(current);

// Continues the operator's action of this tab after a reload or a login.
export async function resume() {
  if (current !== null) return;
  const kept = restore(keys.action);
  if (kept === null) return;
  current = {
    ...kept, stage: "unanswered", wasUnanswered: true, fields: [], finished: null, error: null, progress: null,
    changed: dialog.update,
  };
  dialog.show(current);
  await ask();
}

// Forgets the action when the operator closes its outcome. A running action continues.
export function close() {
  if (!run.isPending(current)) reset();
}

// Ends the view of an action at the end of a session. A pending action remains stored for its operator.
export function forget() {
  if (run.isPending(current)) {
    run.forget(current);
    current = null;
  }
  dialog.hide();
}

// Forgets the action in any stage. A running action continues.
export function discard() {
  reset();
  dialog.hide();
}

function reset() {
  if (current === null) return;
  clearTimeout(previewTimer);
  run.forget(current);
  current = null;
  remove(keys.action);
}

const body = () => ({
  action: current.action, arguments: { ...current.fixed, ...current.values }, why: current.why.trim(),
});

let previewTimer = null;

// Records an entered value, and makes the plan again. `value`: undefined removes the argument.
export function change(name, value) {
  if (name === "why") current.why = value;
  else if (value === undefined) delete current.values[name];
  else current.values[name] = value;
  Object.assign(current, { plan: null, phrase: "", planNumber: current.planNumber + 1, isPlanning: false });
  clearTimeout(previewTimer);
  if (isComplete() && !current.isCostly) previewTimer = setTimeout(preview, previewMilliseconds);
  dialog.update();
}

export function changePhrase(text) {
  current.phrase = text;
  dialog.update();
}

// Whether the operator has entered a reason and each required argument.
export const isComplete = () => current.why.trim() !== "" && !current.isRefused
  && ["scope", "body"].every((name) => !current.fields.includes(name) || Boolean(current.values[name]));

// Makes the plan. An answer is ignored if the operator has changed a value since.
export async function preview() {
  clearTimeout(previewTimer);
  if (current.isPlanning) return;
  const [of, wanted, number] = [current, body(), current.planNumber + 1];
  Object.assign(of, { error: null, planNumber: number, isPlanning: true });
  dialog.update();
  const isStale = () => of !== current || of.stage !== "asking" || of.planNumber !== number;
  try {
    const plan = await run.planOf(wanted);
    if (isStale()) return;
    Object.assign(of, {
      plan, planned: wanted, phrase: "", error: plan.role ? refusal(plan.role) : null, id: run.newID(),
    });
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (isStale()) return;
    // A dead letter may have failed at several moments, of which the operator chooses one.
    Object.assign(of, { error: run.describe(error), moments: error.details.failed_at ?? of.moments });
  }
  of.isPlanning = false;
  dialog.update();
}

// Whether the operator can confirm the plan now.
export const canConfirm = () => current.stage === "asking" && current.plan !== null && current.error === null
  && (!current.plan.phrase || current.phrase === current.plan.phrase);

// Sends the plan. The stage prevents a second request of the same plan, and its id makes a repeat harmless.
export async function confirm() {
  if (!canConfirm()) return;
  const { title, id, planned, plan: { summary, command, ...plan }, phrase, isSecret } = current;
  const request = run.requestOf(id, planned, plan, phrase);
  Object.assign(current, { stage: "sent", request });
  store(keys.action, isSecret || hasToken(planned) ? { title, id, plan: { summary } }
    : { title, id, plan: { summary, command }, request });
  dialog.update();
  await send();
}

// Sends the request again with the same id after a missing answer.
export const send = () => run.send(current);

// Asks for the state of an action whose request has no answer.
export const ask = () => run.ask(current);

export const stop = () => run.stop(current);

// Makes a new plan after a refusal. Only an action of this page's life has its fields.
export function again() {
  Object.assign(current, { stage: "asking", plan: null, phrase: "", error: null, wasUnanswered: false });
  remove(keys.action);
  dialog.update();
  preview();
}
