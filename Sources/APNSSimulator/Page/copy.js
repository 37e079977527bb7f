// A button that copies a text.

import { make } from "./dom.js";

const saidMilliseconds = 1500;

// `text` gives the text, maybe later.
export function copyButton(text, label = "Copy") {
  const button = make("button", { type: "button", class: "small" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(await text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Cannot copy";
    }
    setTimeout(() => {
      button.textContent = label;
    }, saidMilliseconds);
  });
  return button;
}
