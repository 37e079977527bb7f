// The action of this tab: its plan, its confirmation, and its progress. A double click or a reload remains one action,
// because the page keeps the id until the operator closes the outcome.

import { APIError, call } from "./api.js";
import { announce } from "./announcer.js";
import * as dialog from "./dialog.js";
import { reload } from "./router.js";
import { refusal } from "./session.js";

const storageKey = "martlet-action";
const previewMilliseconds = 350;
const progressMilliseconds = 1000;

// The stages of an action:
// `asking`: the operator enters the arguments. `plan` is the preview of `planned`, or null.
// `sent`: the request has no answer yet. `unanswered`: the console did not respond to it.
// `running`, `done`, `failed`: as the console reports. `refused`: the console refused the request.
let current = null;

// Opens the dialog of an action. `arguments`: fixed arguments. `fields`: names of the fields that the operator fills
// in. `role`: the role that the action needs at least. `finished(outcome)` is called at its end.
export function open({ action, title, confirm, role, fields, arguments: fixed, finished = null }) {
  if (isPending()) return dialog.show(current);
  current = {
    action, title, confirm, fixed, fields, finished, stage: "asking", values: {}, why: "", phrase: "", plan: null,
    error: refusal(role), isRefused: refusal(role) !== null, progress: null,
  };
  dialog.show(current);
}

const isPending = () => ["sent", "unanswered", "running"].includes(current?.stage);

// The action that runs or has no answer; null without one.
export const pending = () => (isPending() ? current : null);

export const showPending = () => dialog.show(current);

// Continues the action of this tab after a reload.
export async function resume() {
  const text = sessionStorage.getItem(storageKey);
  if (text === null || current !== null) return;
  try {
    current = { ...JSON.parse(text), stage: "unanswered", fields: [], finished: null, error: null, progress: null };
  } catch {
    return sessionStorage.removeItem(storageKey);
  }
  dialog.show(current);
  await ask();
}

// Forgets the action when the operator closes its outcome. A running action continues.
export function close() {
  if (isPending()) return;
  clearTimeout(previewTimer);
  current = null;
  sessionStorage.removeItem(storageKey);
}

// Ends the view of an action at the end of a session.
export function forget() {
  clearTimeout(progressTimer);
  clearTimeout(previewTimer);
  current = null;
  dialog.hide();
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
  current.plan = null;
  clearTimeout(previewTimer);
  if (isComplete()) previewTimer = setTimeout(preview, previewMilliseconds);
  dialog.update();
}

export function changePhrase(text) {
  current.phrase = text;
  dialog.update();
}

// Whether the operator has entered a reason and each required argument.
export const isComplete = () => current.why.trim() !== "" && !current.isRefused
  && (!current.fields.includes("scope") || Boolean(current.values.scope));

export async function preview() {
  clearTimeout(previewTimer);
  const [of, wanted] = [current, body()];
  of.error = null;
  try {
    const plan = await call("POST", "/api/actions?preview=1", wanted);
    if (of !== current || of.stage !== "asking" || JSON.stringify(wanted) !== JSON.stringify(body())) return;
    const refused = plan.role ? refusal(plan.role) : null;
    Object.assign(of, { plan, planned: wanted, error: refused, id: newID() });
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (of !== current || of.stage !== "asking") return;
    of.error = describe(error);
  }
  dialog.update();
}

// Whether the operator can confirm the plan now.
export const canConfirm = () => current.stage === "asking" && current.plan !== null && current.error === null
  && (!current.plan.phrase || current.phrase === current.plan.phrase);

// Sends the plan. The stage prevents a second request of the same plan, and its id makes a repeat harmless.
export async function confirm() {
  if (!canConfirm()) return;
  const { title, id, planned, plan, phrase, finished } = current;
  const request = { id, ...planned, expect: plan.expect, ...(plan.phrase ? { phrase } : {}) };
  Object.assign(current, { stage: "sent", request });
  sessionStorage.setItem(storageKey, JSON.stringify({ title, id, request, plan }));
  current.finished = finished;
  dialog.update();
  await send();
}

// Sends the request again with the same id after a missing answer.
export async function send() {
  const of = current;
  Object.assign(of, { stage: "sent", error: null });
  dialog.update();
  await follow(of, () => call("POST", "/api/actions", of.request));
}

// Asks for the state of an action whose request has no answer.
export const ask = () => follow(current, () => call("GET", `/api/actions/${encodeURIComponent(current.id)}`));

export async function stop() {
  const of = current;
  of.isStopping = true;
  dialog.update();
  await follow(of, async () => await call("DELETE", `/api/actions/${encodeURIComponent(of.id)}`)
    ?? call("GET", `/api/actions/${encodeURIComponent(of.id)}`));
}

let progressTimer = null;

async function follow(of, request) {
  try {
    const answer = await request();
    if (of !== current) return;
    record(of, answer);
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (of !== current) return;
    recordError(of, error);
  }
  dialog.update();
}

function record(of, { state, progress = null, result = null, error = null }) {
  Object.assign(of, { stage: state, progress, result, error: error ? { error: textOf(error), remedy: null } : null });
  clearTimeout(progressTimer);
  if (state === "running") {
    progressTimer = setTimeout(ask, progressMilliseconds);
    return;
  }
  announce("action", state === "done" ? `${of.title}: done.` : `${of.title}: failed.`);
  of.finished?.({ state, result });
  reload();
}

const textOf = (error) => (typeof error === "string" ? error : error.error ?? "The action failed.");

function recordError(of, error) {
  clearTimeout(progressTimer);
  of.error = describe(error);
  if (error.isGone && of.stage !== "running") {
    of.stage = "unanswered";
  } else if (error.status === 404 && of.stage === "unanswered") {
    of.error = { error: "The console does not know this action: the request did not arrive, or the console restarted.",
      remedy: "Check the page Audit before you send the action again." };
  } else if (of.stage === "running" && error.status === 404) {
    of.stage = "unanswered";
  } else if (of.stage === "running") {
    // For example, the console cannot stop the action.
    of.isStopping = false;
    progressTimer = setTimeout(ask, progressMilliseconds);
  } else {
    of.stage = "refused";
    announce("action", `${of.title}: refused.`);
  }
}

// Makes a new plan after a refusal. Only an action of this page's life has its fields.
export function again() {
  Object.assign(current, { stage: "asking", plan: null, phrase: "", error: null });
  sessionStorage.removeItem(storageKey);
  dialog.update();
  preview();
}

const describe = (error) => ({
  error: error.isGone ? `The console is not available: ${error.message}.` : error.message,
  remedy: error.remedy, code: error.code,
});

// Returns a random UUID. `crypto.randomUUID` is missing on pages that are not on loopback or TLS.
function newID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => digits.slice(from, to)).join("-");
}
