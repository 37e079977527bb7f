// The fields of actions: the scope and the duration of a pause.

import * as actions from "./actions.js";
import { make } from "./dom.js";
import { field } from "./parts.js";

const kinds = [
  ["topic", "One topic"], ["key", "One key"], ["certificate", "One certificate"], ["everything", "All workers"],
];

const durations = [
  ["", "Until an operator resumes"], ["900", "15 min"], ["3600", "1 h"], ["7200", "2 h"], ["28800", "8 h"],
  ["86400", "24 h"], ["604800", "7 d"],
];

export const fieldOf = (name, action) => (name === "scope" ? scopeFields(action) : untilField(action));

function scopeFields(action) {
  const kind = action.kind ?? "topic";
  return make("div", { class: "pair", key: "scope" },
    field("Pause", make("select", {
      name: "kind", "data-first": true,
      onchange: (event) => change(action, event.currentTarget.value, action.scopeName ?? ""),
    }, kinds.map(([value, text]) => make("option", { value, selected: value === kind }, text)))),
    kind !== "everything" && field("Name", make("input", {
      type: "text", name: "scope", value: action.scopeName, autocomplete: "off", spellcheck: "false",
      autocapitalize: "none", required: true, maxlength: "280",
      placeholder: { topic: "com.example.app", key: "ABC123DEFG", certificate: "shop" }[kind],
      oninput: (event) => change(action, kind, event.currentTarget.value),
    })));
}

function change(action, kind, name) {
  Object.assign(action, { kind, scopeName: name });
  const trimmed = name.trim();
  actions.change("scope", kind === "everything" ? "everything" : trimmed === "" ? undefined : `${kind} ${trimmed}`);
}

const untilField = ({ values }) => field("Duration", make("select", {
  name: "until",
  onchange: ({ currentTarget: { value } }) => actions.change("until_seconds", value === "" ? null : Number(value)),
}, durations.map(([value, text]) =>
  make("option", { value, selected: value === String(values.until_seconds ?? "") }, text))));
