// A button that copies text.

import { make } from "./dom.js";

const confirmationMilliseconds = 1500;

// `text` returns the text or a promise of the text.
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
    }, confirmationMilliseconds);
  });
  return button;
}
