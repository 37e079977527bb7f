// The editor of a dead letter's body, with a check while the operator types.

import * as actions from "./actions.js";
import { announce } from "./announcer.js";
import { APIError, call } from "./api.js";
import * as dialog from "./dialog.js";
import { make } from "./dom.js";
import { positionOf } from "./outcome.js";
import { field, mark, note } from "./parts.js";
import { moment } from "./words.js";

const checkMilliseconds = 500;

let timer = null;
// The newest check: its body and its answer, or its error. Null before it.
let check = null;

export const bodyFields = (action) => [
  action.moments && field("Failed at", make("select", {
    name: "failed_at", onchange: ({ currentTarget: { value } }) =>
      actions.change("failed_at", value === "" ? undefined : Number(value)),
  }, make("option", { value: "", selected: !action.values.failed_at }, "Choose one of several"),
  action.moments.map((time) => make("option", { value: String(time), selected: action.values.failed_at === time },
    moment(time)))), "Several dead letters have this ID."),
  field("Body", make("textarea", {
    name: "body", rows: "12", spellcheck: "false", autocapitalize: "none", autocomplete: "off", "data-first": true,
    oninput: ({ currentTarget: { value } }) => change(value),
  }, action.values.body)),
  make("div", { class: "check-state", key: "check" }, state(action.values.body)),
];

function change(text) {
  clearTimeout(timer);
  timer = setTimeout(run, checkMilliseconds, text);
  actions.change("body", text);
}

// Begins the editor with a body.
export function start(text) {
  check = null;
  run(text);
}

async function run(text) {
  clearTimeout(timer);
  const asked = { text };
  check = asked;
  try {
    asked.answer = await call("POST", "/api/check", { body: text });
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    asked.error = error;
  }
  if (check !== asked) return;
  announce("check", asked.error ? "The body is not checked." : asked.answer.valid ? "The body is valid."
    : "The body is not valid.");
  dialog.update();
}

function state(text) {
  if (check?.text !== text || !(check.answer || check.error)) return mark("busy", "checking");
  if (check.error) return [mark("warn", "not checked"), note(`${check.error.message}.`)];
  return check.answer.valid ? mark("good", "valid") : [mark("bad", "not valid"), positionOf(check.answer.problem)];
}
