// Values that an operator reveals. The console records each reveal in the audit. The values stay in memory until the
// operator opens another page.

import { APIError, call } from "./api.js";
import { announce } from "./announcer.js";
import { remedyOf } from "./copy.js";
import { failure } from "./parts.js";
import { redraw } from "./router.js";

// The value or the error of each key; an empty object before the answer.
const revealed = new Map();

addEventListener("hashchange", forget);

export function forget() {
  revealed.clear();
}

export function hide(key) {
  revealed.delete(key);
  redraw();
}

export const valueOf = (key) => revealed.get(key)?.answer ?? null;

export const isAsked = (key) => revealed.has(key) && !revealed.get(key).answer && !revealed.get(key).error;

export function problemOf(key) {
  const error = revealed.get(key)?.error;
  return error && failure(`Not revealed: ${error.message}.`, remedyOf(error.remedy));
}

// Reveals a value, as `body` describes it. Returns the answer, or null after an error or a change of the page.
export async function reveal(key, body) {
  const entry = {};
  revealed.set(key, entry);
  redraw();
  try {
    entry.answer = await call("POST", "/api/reveal", body);
    announce("reveal", "Revealed.");
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    entry.error = error;
  }
  if (revealed.get(key) !== entry) return null;
  redraw();
  return entry.answer ?? null;
}
