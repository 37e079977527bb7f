// Pauses in force, and the actions that start and end them.

import { make } from "./dom.js";
import * as actions from "./actions.js";
import { button, card, cardHead } from "./parts.js";
import { offers } from "./session.js";
import { moment } from "./words.js";

const scopePattern = /^(everything|(key|certificate|topic) .+)$/s;

export const isScope = (text) => typeof text === "string" && scopePattern.test(text);

// Whether a pause has this scope.
export const isPaused = (pauses, scope) => pauses.some((pause) => pause.scope === scope);

const nameOf = (scope) => (scope === "everything" ? "all workers" : scope);

// The card of a pause of the fleet.
export const pauseCard = (pause) => card(`pause ${pause.scope}`,
  cardHead("paused", `Paused: ${nameOf(pause.scope)}`, `since ${moment(pause.since, { seconds: false })}`),
  make("p", {}, `${pause.by}: “${pause.why}”. `,
    pause.until ? `Ends at ${moment(pause.until, { seconds: false })}.` : "Lasts until an operator resumes."),
  offers("resume") && make("div", { class: "buttons" }, button("Resume…", () => resume(pause.scope),
    { "aria-label": `Resume ${nameOf(pause.scope)}` })));

export const pauseButton = (scope, label = "Pause…") =>
  offers("pause") && button(label, () => pause(scope), scope ? { "aria-label": `Pause ${nameOf(scope)}` } : {});

// Opens the action that pauses a scope; the dialog asks for the scope if it is null.
export function pause(scope = null) {
  actions.open({
    action: "pause", title: scope ? `Pause ${nameOf(scope)}` : "Pause", confirm: "Pause", role: "operate",
    fields: [...(scope ? [] : ["scope"]), "until"], arguments: scope ? { scope } : {},
  });
}

export function resume(scope) {
  actions.open({
    action: "resume", title: `Resume ${nameOf(scope)}`, confirm: "Resume", role: "operate", fields: [],
    arguments: { scope },
  });
}

export function probe(scope) {
  actions.open({
    action: "probe", title: `Probe ${scope}`, confirm: "Probe", role: "operate", fields: [], arguments: { scope },
  });
}
