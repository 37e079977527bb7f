// A run that was saved with --record, looked at without its simulator.

import { byID } from "./dom.js";
import { attempt } from "./outcome.js";
import { plural } from "./words.js";

// As many as the page can hold at once: the newest.
const requestsMax = 10_000;
// They are looked for in the end of a file, which may be of any size.
const bytesMax = 64 * 1024 * 1024;

const numbers = ["number", "unix_ms", "connection", "stream", "payload_bytes"];
const texts = [
  "environment", "service", "method", "path", "apns_id", "device_token", "topic", "push_type", "collapse_id", "channel_id",
  "payload", "reset", "malformed_field", "reason", "detail", "fault",
];

// `show(requests)` is given what is in a file, the oldest first.
export function start(show) {
  byID("record-file").addEventListener("change", (event) => attempt(byID("record-outcome"), async () => {
    const [file] = event.target.files;
    if (!file) return "";
    // So that the same file can be chosen again.
    event.target.value = "";
    const { requests, isCut } = await read(file);
    show(requests, file.name);
    const cut = isCut ? " Its last line is cut: the record ended early." : "";
    return `${plural(requests.length, "request")} of ${file.name} shown until you press Pause again.${cut}`;
  }));
}

async function read(file) {
  const start = Math.max(file.size - bytesMax, 0);
  const lines = (await file.slice(start).text()).split("\n");
  // The first may have begun before.
  if (start > 0) lines.shift();
  const filled = lines.filter((line) => line.trim() !== "");
  // Where the disk was full, or the simulator is writing.
  const isCut = lines.at(-1) !== "" && parse(lines.at(-1)) === null;
  if (isCut) filled.pop();
  const skipped = Math.max(filled.length - requestsMax, 0);
  const requests = filled.slice(skipped).map((line, index) => {
    const request = parse(line);
    const place = `line ${skipped + index + 1}${start > 0 ? " of the file's end" : ""}`;
    if (!Number.isInteger(request?.number)) throw new Error(`${place} is not a request of a record`);
    if (!Array.isArray(request.headers)) throw new Error(`${place} is a summary: record with --record-detail full`);
    if (!isWhole(request)) throw new Error(`${place} is not a request of a record`);
    return request;
  });
  return { requests, isCut };
}

const isText = (value) => typeof value === "string";

const isWhole = (request) => numbers.every((name) => Number.isInteger(request[name]))
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
