// What became of something that a person asked for, said where they asked for it.

import { setText } from "./dom.js";

// Runs `deed`, which resolves to a sentence; a failure is told in its place, and stands out.
export async function attempt(element, deed) {
  try {
    tell(element, await deed(), false);
  } catch (error) {
    tell(element, `That failed: ${error.message}.`, true);
  }
}

function tell(element, text, isFailure) {
  element.classList.toggle("failed", isFailure);
  setText(element, text);
}
