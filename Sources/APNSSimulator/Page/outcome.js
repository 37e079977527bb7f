// Shows the outcome of a user's action next to its control.

import { setText } from "./dom.js";

// Runs `operation` and shows the sentence that it resolves to, or a highlighted failure.
export async function attempt(element, operation) {
  try {
    show(element, await operation(), false);
  } catch (error) {
    show(element, `Failed: ${error.message}.`, true);
  }
}

function show(element, text, isFailure) {
  element.classList.toggle("failed", isFailure);
  setText(element, text);
}
