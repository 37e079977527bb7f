// The form that opens a session with a personal token.

import { APIError } from "./api.js";
import { commandLine, remedyOf } from "./copy.js";
import { byID, make } from "./dom.js";
import { draw } from "./draw.js";
import { failure } from "./parts.js";
import * as session from "./session.js";

let onOpen = () => {};

// Calls `opened()` after each login.
export function start(opened) {
  onOpen = opened;
  draw(byID("login-command"), commandLine(session.openCommand()));
  byID("login-form").addEventListener("submit", submit);
}

// Shows the form. `problem`: an error, or the reason for the end of a session; null without one.
export function show(problem = null) {
  for (const id of ["app", "page", "starting"]) byID(id).hidden = true;
  byID("login").hidden = false;
  document.title = "Log in · Martlet";
  drawProblem(problem);
  byID("token").value = "";
  byID("token").focus();
}

export function hide() {
  for (const id of ["login", "starting"]) byID(id).hidden = true;
  for (const id of ["app", "page"]) byID(id).hidden = false;
}

function drawProblem(problem) {
  const text = problem instanceof Error ? explain(problem) : problem;
  draw(byID("login-problem"), text && (problem instanceof Error ? failure(text, remedyOf(remedyTextOf(problem)))
    : make("p", { class: "plain" }, text)));
}

// The form shows the command that makes a new code.
const remedyTextOf = ({ code, remedy }) => (code === "login_failed" ? null : remedy);

function explain(error) {
  if (error.isGone) return `The console is not available: ${error.message}.`;
  if (error.code === "login_failed") {
    return "The login failed. A code of martlet console open is valid once, for 60 s. A token may have expired.";
  }
  return error.message;
}

async function submit(event) {
  event.preventDefault();
  const token = byID("token").value.trim();
  if (token === "") return;
  byID("login-button").disabled = true;
  try {
    await session.logIn({ token });
    byID("token").value = "";
    onOpen();
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    drawProblem(error);
    byID("token").select();
  } finally {
    byID("login-button").disabled = false;
  }
}
