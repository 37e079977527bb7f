// Shows a run that was saved with --record.

import { byID } from "./dom.js";
import { attempt } from "./outcome.js";
import { plural } from "./words.js";

// Maximum number of shown requests, the newest of the file.
const requestsMax = 10_000;
// Maximum bytes that are read, from the end of the file.
const bytesMax = 64 * 1024 * 1024;

const numbers = ["number", "unix_ms", "connection", "stream", "payload_bytes"];
const texts = [
  "environment", "service", "method", "path", "apns_id", "device_token", "topic", "push_type", "collapse_id", "channel_id",
  "payload", "reset", "malformed_field", "reason", "detail", "fault",
];

// `show(requests, name)` receives the requests of a file, the oldest first, and the file's name.
export function start(show) {
  byID("record-file").addEventListener("change", (event) => attempt(byID("record-outcome"), async () => {
    const [file] = event.target.files;
    if (!file) return "";
    // Allow the user to choose the same file again.
    event.target.value = "";
    const { requests, isCut } = await read(file);
    show(requests, file.name);
    const cut = isCut ? " The last line is incomplete: the record ended early." : "";
    return `Showing ${plural(requests.length, "request")} of ${file.name}. Press Pause to return to live requests.${cut}`;
  }));
}

async function read(file) {
  const start = Math.max(file.size - bytesMax, 0);
  const lines = (await file.slice(start).text()).split("\n");
  // The first line may be incomplete.
  if (start > 0) lines.shift();
  const filled = lines.filter((line) => line.trim() !== "");
  // The last line is incomplete if the disk was full or the simulator is still writing.
  const isCut = lines.at(-1) !== "" && parse(lines.at(-1)) === null;
  if (isCut) filled.pop();
  const skipped = Math.max(filled.length - requestsMax, 0);
  const requests = filled.slice(skipped).map((line, index) => {
    const request = parse(line);
    const position = `line ${skipped + index + 1}${start > 0 ? " of the file's end" : ""}`;
    if (!Number.isInteger(request?.number)) throw new Error(`${position} is not a request of a record`);
    if (!Array.isArray(request.headers)) throw new Error(`${position} is a summary: record with --record-detail full`);
    if (!isComplete(request)) throw new Error(`${position} is not a request of a record`);
    return request;
  });
  return { requests, isCut };
}

const isText = (value) => typeof value === "string";

const isComplete = (request) => numbers.every((name) => Number.isInteger(request[name]))
  && texts.every((name) => request[name] === undefined || isText(request[name]))
  && (request.status === undefined || Number.isInteger(request.status))
  && request.headers.every((header) => isText(header?.name) && (header.value === undefined || isText(header.value)));

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
