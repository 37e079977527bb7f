// The dialog of an action.

import * as actions from "./actions.js";
import { commandLine, remedyOf } from "./copy.js";
import { byID, make } from "./dom.js";
import { draw } from "./draw.js";
import { fieldOf } from "./fields.js";
import { button, failure, field, mark } from "./parts.js";
import { formatCount } from "./words.js";

let shown = null;

export function start() {
  const dialog = byID("action");
  // The event can arrive after the next opening.
  dialog.addEventListener("close", () => {
    if (!dialog.open) closed();
  });
  // A click on the backdrop does not close the dialog: entered text would be lost.
  dialog.addEventListener("submit", (event) => event.preventDefault());
}

export function show(action) {
  shown = action;
  const dialog = byID("action");
  if (!dialog.open) {
    dialog.replaceChildren();
    update();
    dialog.showModal();
    (dialog.querySelector("[data-first]") ?? byID("action-heading")).focus();
  }
  update();
}

export function hide() {
  if (byID("action").open) byID("action").close();
  closed();
}

function closed() {
  shown = null;
  actions.close();
  update();
}

export function update() {
  drawBar();
  if (shown === null) return;
  const stage = shown.stage === "asking" ? "asking" : "outcome";
  const wasAsking = byID("action").dataset.stage === "asking" && stage === "outcome";
  byID("action").dataset.stage = stage;
  draw(byID("action"),
    make("h2", { id: "action-heading", tabindex: "-1", key: "heading" }, shown.title),
    stage === "asking" ? asking(shown) : outcome(shown));
  // The confirmed plan replaces the pressed button.
  if (wasAsking && byID("action").open) byID("action-heading").focus();
}

// The bar below the header, while an action runs and its dialog is closed.
function drawBar() {
  const action = actions.pending();
  byID("running").hidden = action === null || shown !== null;
  if (action === null) return;
  draw(byID("running"), mark("busy", `${action.title}: ${progressText(action)}`),
    button("Show", actions.showPending, { class: "small" }));
}

const asking = (action) => make("form", { class: "form", key: "asking", method: "dialog" },
  action.error && failure(action.error.error, remedyOf(action.error.remedy)),
  !action.isRefused && [
    action.fields.map((name) => fieldOf(name, action)),
    field("Reason", make("input", {
      type: "text", name: "why", value: action.why, maxlength: "500", autocomplete: "off", required: true,
      "data-first": action.fields.includes("scope") ? null : true,
      oninput: (event) => actions.change("why", event.currentTarget.value),
    }), "Everyone sees the reason in pauses and in the audit."),
    plan(action),
  ],
  make("div", { class: "buttons end", key: "buttons" },
    button(action.isRefused ? "Close" : "Cancel", hide),
    !action.isRefused
      && button(confirmLabel(action), actions.confirm, { class: "main", disabled: !actions.canConfirm() })));

const confirmLabel = ({ confirm, plan }) =>
  (plan?.count > 1 ? `${confirm} (${formatCount(plan.count)})` : confirm);

function plan(action) {
  if (action.plan === null) {
    return make("div", { class: "plan", key: "plan" }, make("p", { class: "note" }, planState(action)),
      action.error && actions.isComplete() && button("Try again", actions.preview, { class: "small" }));
  }
  const { summary, command, phrase } = action.plan;
  return make("div", { class: "plan", key: "plan" },
    make("p", { class: "summary" }, summary),
    command && commandLine(command),
    phrase && field(["Type ", make("strong", {}, phrase), " to confirm"], make("input", {
      type: "text", name: "phrase", autocomplete: "off", spellcheck: "false", autocapitalize: "none",
      oninput: (event) => actions.changePhrase(event.currentTarget.value),
    })));
}

function planState({ error }) {
  if (!actions.isComplete()) return "Complete the fields to see the plan.";
  return error ? "No plan." : "Making the plan…";
}

function progressText({ stage, progress }) {
  if (stage === "sent") return "sent";
  if (stage === "unanswered") return "no answer";
  return progress ? `${formatCount(progress.done)} of ${formatCount(progress.total)}` : "running";
}

const outcome = (action) => make("div", { class: "form", key: "outcome" },
  action.plan?.summary && make("p", { class: "summary" }, action.plan.summary),
  action.plan?.command && commandLine(action.plan.command),
  state(action),
  make("div", { class: "buttons end" }, buttons(action)));

function state(action) {
  const problem = action.error && failure(action.error.error, remedyOf(action.error.remedy));
  switch (action.stage) {
    case "done": return make("p", { class: "result" }, mark("good", "Done"), " ", action.result);
    case "failed": return [make("p", { class: "result" }, mark("bad", "Failed"), " ", action.result), problem];
    case "refused": return [make("p", { class: "result" }, mark("bad", "Refused"), " Nothing was changed."), problem];
    case "unanswered": return [make("p", { class: "result" }, mark("warn", "No answer"),
      " The action may have run. Its id is kept, so a repeat runs it at most once."), problem];
    default: return [bar(action), problem];
  }
}

const bar = (action) => make("div", { class: "progress" }, make("p", {}, mark("busy", progressText(action))),
  make("progress", {
    "aria-label": "Progress", max: action.progress?.total ?? null, value: action.progress?.done ?? null,
  }));

function buttons(action) {
  switch (action.stage) {
    case "running": return [
      button(action.isStopping ? "Stopping…" : "Stop", actions.stop, { disabled: action.isStopping }),
      button("Continue in background", hide),
    ];
    case "sent": return button("Continue in background", hide);
    case "unanswered": return [
      button("Ask again", actions.ask), button("Send again", actions.send), button("Discard", discard),
    ];
    case "refused": return [
      action.planned && button("Make a new plan", actions.again, { class: "main" }), button("Close", hide),
    ];
    default: return button("Close", hide, { class: "main" });
  }
}

function discard() {
  actions.forget();
  actions.close();
}
