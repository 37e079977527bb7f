// The fields of actions: the scope and the duration of a pause, the rate of messages, and the body of a request.

import * as actions from "./actions.js";
import { make } from "./dom.js";
import { bodyFields } from "./editor.js";
import { field } from "./parts.js";

const kinds = [
  ["topic", "One topic"], ["key", "One key"], ["certificate", "One certificate"], ["everything", "All workers"],
];

const durations = [
  ["", "Until an operator resumes"], ["900", "15 min"], ["3600", "1 h"], ["7200", "2 h"], ["28800", "8 h"],
  ["86400", "24 h"], ["604800", "7 d"],
];

const rates = [["", "As fast as possible"], ["10", "10/s"], ["50", "50/s"], ["200", "200/s"], ["1000", "1,000/s"]];

const fields = new Map([
  ["scope", scopeFields], ["until", untilField], ["rate", rateField], ["body", bodyFields],
]);

export const fieldOf = (name, action) => fields.get(name)(action);

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

function untilField({ values }) {
  return field("Duration", choice("until", durations, values.until_seconds,
    (seconds) => actions.change("until_seconds", seconds)));
}

function rateField({ values }) {
  return field("Rate", choice("rate", rates, values.rate_per_second,
    (rate) => actions.change("rate_per_second", rate)));
}

// Returns a choice of numbers. The empty value is null.
export const choice = (name, options, chosen, changed) => make("select", {
  name, onchange: ({ currentTarget: { value } }) => changed(value === "" ? null : Number(value)),
}, options.map(([value, text]) => make("option", { value, selected: value === String(chosen ?? "") }, text)));
