// The dialog of an action.

import * as actions from "./actions.js";
import * as bar from "./bar.js";
import { byID, make } from "./dom.js";
import { draw } from "./draw.js";
import { fieldOf } from "./fields.js";
import { countOf, planned, problemOf, stageOf } from "./outcome.js";
import { button, field, note } from "./parts.js";

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
    byID("action-content").replaceChildren();
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
  // A body may contain a device token.
  byID("action-content").replaceChildren();
  actions.close();
  update();
}

// The action that runs while the dialog is closed; null without one.
export function hidden() {
  const action = actions.pending();
  return action === null || shown !== null ? null : { title: action.title, action, show: actions.showPending };
}

export function update() {
  bar.update();
  if (shown === null) return;
  const stage = shown.stage === "asking" ? "asking" : "outcome";
  const wasAsking = byID("action").dataset.stage === "asking" && stage === "outcome";
  const wasPlanning = isPlanFocused();
  byID("action").dataset.stage = stage;
  byID("action").classList.toggle("large", stage === "asking" && shown.fields.includes("body"));
  draw(byID("action-content"),
    make("h2", { id: "action-heading", tabindex: "-1", key: "heading" }, shown.title),
    stage === "asking" ? asking(shown) : outcome(shown));
  if (!byID("action").open) return;
  // The confirmed plan replaces the pressed button.
  if (wasAsking) byID("action-heading").focus();
  else if (wasPlanning && !isPlanFocused() || !byID("action").contains(document.activeElement)) focusNext();
}

// Whether the button that makes the plan has the focus.
const isPlanFocused = () => document.activeElement?.matches("#action .plan > button") ?? false;

// Moves the focus of a removed or disabled button to the next control of the plan.
function focusNext() {
  const next = ["[name=phrase]", ".plan > button", "button.main:not(:disabled)", "#action-heading"]
    .map((selector) => byID("action").querySelector(selector)).find(Boolean);
  next.focus();
}

const asking = (action) => make("form", { class: "form", key: "asking", method: "dialog" },
  problemOf(action.error),
  !action.isRefused && [
    action.note?.(),
    action.fields.map((name) => fieldOf(name, action)),
    field("Reason", make("input", {
      type: "text", name: "why", value: action.why, maxlength: "500", autocomplete: "off", required: true,
      "data-first": action.fields.includes("scope") || action.fields.includes("body") ? null : true,
      oninput: (event) => actions.change("why", event.currentTarget.value),
    }), "Everyone sees the reason in pauses and in the audit."),
    plan(action),
  ],
  make("div", { class: "buttons end", key: "buttons" },
    button(action.isRefused ? "Close" : "Cancel", hide),
    !action.isRefused && button(`${action.confirm}${countOf(action.plan)}`, actions.confirm,
      { class: "main", disabled: !actions.canConfirm() })));

function plan(action) {
  if (action.plan !== null) {
    return make("div", { class: "plan", key: "plan" }, planned(action.plan, actions.changePhrase));
  }
  const isWanted = actions.isComplete() && (action.isCostly || action.error);
  return make("div", { class: "plan", key: "plan" }, note(planState(action)),
    isWanted && button(action.error ? "Try again" : "Make the plan", actions.preview,
      { class: "small", "aria-disabled": action.isPlanning ? "true" : null }));
}

function planState({ error, isCostly, isPlanning }) {
  if (!actions.isComplete()) return "Complete the fields to see the plan.";
  if (isPlanning) return isCostly ? "Reading the queue…" : "Making the plan…";
  if (error) return "No plan.";
  return isCostly ? "The plan reads the queue, which can take some seconds." : "Making the plan…";
}

const outcome = (action) => make("div", { class: "form", key: "outcome" },
  action.plan?.summary && planned({ ...action.plan, phrase: null }),
  stageOf(action),
  make("div", { class: "buttons end" }, buttons(action)));

function buttons(action) {
  switch (action.stage) {
    case "running": return [
      action.isStoppable && button(action.isStopping ? "Stopping…" : "Stop", actions.stop,
        { disabled: action.isStopping }),
      button("Continue in background", hide),
    ];
    case "sent": return button("Continue in background", hide);
    case "unanswered": return [
      button("Ask again", actions.ask), action.request && button("Send again", actions.send),
      button("Discard", actions.discard),
    ];
    case "refused": return [
      action.planned && button("Make a new plan", actions.again, { class: "main" }), button("Close", hide),
    ];
    default: return button("Close", hide, { class: "main" });
  }
}
