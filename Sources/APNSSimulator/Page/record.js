// A run that was saved with --record, looked at without its simulator.

import { byID, setText } from "./dom.js";
import { attempt } from "./outcome.js";
import { plural } from "./words.js";

// As many as the page can hold at once: the newest.
const requestsMax = 10_000;

// `show(requests)` is given what is in a file, the oldest first.
export function start(show) {
  byID("record-file").addEventListener("change", (event) => attempt(byID("record-outcome"), async () => {
    const [file] = event.target.files;
    if (!file) return "";
    const requests = read(await file.text());
    show(requests, file.name);
    return `${plural(requests.length, "request")} of ${file.name} shown; what is new is not.`;
  }));
}

function read(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-requestsMax).map((line, index) => {
    try {
      const request = JSON.parse(line);
      if (Number.isInteger(request.number)) return request;
    } catch {
      // Told below, with its line.
    }
    throw new Error(`line ${Math.max(lines.length - requestsMax, 0) + index + 1} is not a request of a record`);
  });
}
