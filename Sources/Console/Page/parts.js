// Parts that several pages have: headings, states, facts and empty states.

import { remedyOf } from "./copy.js";
import { icon, make } from "./dom.js";
import { commandOf, refusal } from "./session.js";

// Maximum length of a state that must not wrap.
const shortMax = 24;

const isShort = (word) => String(word).length <= shortMax;

// A state as a shape and a word. `kind`: good, bad, warn, paused, silent or busy.
export const mark = (kind, word) =>
  make("span", { class: `mark ${kind}${isShort(word) ? " short" : ""}` }, icon(kind), make("span", {}, word));

// A card of a list, which `j` and `k` reach. `key` identifies the card among its neighbors.
export const card = (key, ...content) => make("li", { class: "card", key, "data-item": true, tabindex: "-1" }, content);

// The first line of a card: its state and title, and its time.
export const cardHead = (kind, title, since) => make("div", { class: "card-head" },
  make("h3", { class: kind }, icon(kind), make("span", {}, title)), since && make("p", { class: "since" }, since));

// Returns a name that can be the text of a link.
export const nameOrDash = (name) => (name?.trim() ? name : "–");

// A page's heading. `controls`: elements at its end.
export const heading = (title, ...controls) => make("div", { class: "head", key: "head" },
  make("h2", { id: "page-heading" }, title), make("div", { class: "buttons" }, controls));

// The content of a page without data: the reason, and the next step.
export const nothing = (title, ...what) => make("div", { class: "nothing", key: "nothing" },
  make("h3", {}, title), what.flat().map((line) => (line instanceof Node ? line : make("p", {}, line))));

export const note = (...content) => make("p", { class: "note" }, content);

export const code = (text) => make("code", {}, text);

// A list of names and values. Pairs without a value are omitted.
export const facts = (pairs) => make("dl", { class: "facts" },
  pairs.filter(([, value]) => ![null, undefined, false, ""].includes(value)).map(([name, value]) =>
    [make("dt", {}, name), make("dd", {}, value)]));

// A button that opens an action, which asks before it acts.
export const button = (label, onclick, attributes = {}) =>
  make("button", { type: "button", onclick, ...attributes }, label);

// A field with its label.
export const field = (label, control, hint) => make("label", { class: "field" },
  make("span", { class: "label" }, label), control, hint && make("span", { class: "hint" }, hint));

// The notice of an error with its remedy.
export const failure = (error, remedy) => make("div", { class: "failure", key: "failure" },
  icon("bad"), make("div", {}, make("p", {}, error), remedy));

// Explains why the page offers no actions of a role; null if it offers them.
export function roleNote(role) {
  const refused = refusal(role);
  return refused && make("div", { class: "role-note", key: "role" },
    make("p", {}, `Actions are not offered. ${refused.error}`), remedyOf(refused.remedy));
}

export const crumbs = (name, address, here) => make("p", { class: "crumbs", key: "crumbs" },
  make("a", { href: address }, name), make("span", { "aria-hidden": "true" }, " › "), make("span", {}, here));

// The content of a page that needs the history, without it.
export const historyIsOff = () => nothing("History is off",
  "This page shows what workers write to the journal. The configuration has no section journal.",
  make("ol", { class: "steps" },
    make("li", {}, "Add these lines to the configuration of the workers and of the console:",
      make("pre", { class: "sample" }, "journal: {}")),
    make("li", {}, "Declare the journal's stream: run ", code(commandOf("topology_apply")), "."),
    make("li", {}, "Restart the workers and martlet console.")));
