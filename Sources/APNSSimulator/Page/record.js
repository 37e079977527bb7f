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
    return `${plural(requests.length, "request")} of ${file.name} shown until you press Pause again.`;
  }));
}

function read(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-requestsMax).map((line, index) => {
    const request = parse(line);
    const place = `line ${Math.max(lines.length - requestsMax, 0) + index + 1}`;
    if (!Number.isInteger(request?.number)) throw new Error(`${place} is not a request of a record`);
    if (!Array.isArray(request.headers)) throw new Error(`${place} is a summary: record with --record-detail full`);
    return request;
  });
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
