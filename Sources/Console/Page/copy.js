// Text to copy: a button, and a command line with one.

import { make } from "./dom.js";

const confirmationMilliseconds = 1500;

// The style sheet shows the outcome instead of the label, so that an update of the page keeps it.
export function copyButton(text, label = "Copy") {
  return make("button", {
    type: "button", class: "small copy", async onclick({ currentTarget: pressed }) {
      let outcome = "Copied";
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        outcome = "Cannot copy";
      }
      pressed.dataset.outcome = outcome;
      setTimeout(() => delete pressed.dataset.outcome, confirmationMilliseconds);
    },
  }, make("span", {}, label));
}

// Returns a command line with a button that copies it.
export const commandLine = (text) => make("div", { class: "command" },
  make("code", {}, make("span", { class: "prompt", "aria-hidden": "true" }, "$ "), text), copyButton(text));

// Returns a remedy: a command line if the text is a command, otherwise a sentence. Null without a remedy.
export function remedyOf(text) {
  if (!text) return null;
  return /^(sudo (-u \S+ )?)?martlet /.test(text) ? commandLine(text)
    : make("p", { class: "remedy" }, make("strong", {}, "Remedy: "), text);
}
