// The outcomes of requests that were sent again, as the history has them.

import { call, query } from "./api.js";
import { agree, plural } from "./words.js";

// The console limits the requests of a session.
const readMilliseconds = 120;

// Reads the outcomes of requests that have none yet. `since`: the time of the server before which results belong to
// earlier attempts. `record(id, outcome)` receives each outcome: a word, a code, and whether it is the last.
export async function read(ids, since, record, isEnded) {
  for (const id of ids) {
    if (isEnded()) return;
    record(id, await outcomeOf(id, since));
    await new Promise((resume) => setTimeout(resume, readMilliseconds));
  }
}

async function outcomeOf(id, since) {
  const { requests = [] } = await call("GET", `/api/requests${query({ id })}`);
  const newest = requests.find((request) => request.at > since);
  if (!newest) return { word: "sent", code: null, isLast: false };
  const { outcome, code, key } = newest;
  if (outcome === "waiting") return { word: "waits", code, isLast: false };
  if (outcome === "accepted") return { word: "accepted", code: null, isLast: true };
  // A result with an error is a dead letter again. A gone device token, for example, is not.
  const { result } = await call("GET", `/api/requests/${encodeURIComponent(key)}`);
  return { word: result?.error ? "dead again" : outcome, code: result?.error?.code ?? code, isLast: true };
}

const kinds = new Map([
  ["accepted", "good"], ["dead again", "bad"], ["refused", "bad"], ["failed", "bad"], ["expired", "warn"],
  ["waits", "busy"], ["sent", "busy"],
]);

export const kindOf = (word) => kinds.get(word) ?? "warn";

// Returns the counts of outcomes and their codes: "8 accepted · 2 dead again (BadTopic)".
export function summaryOf(ids, outcomes) {
  const groups = new Map();
  for (const id of ids) {
    const { word, code } = outcomes[id] ?? { word: "sent", code: null };
    const group = groups.get(word) ?? { count: 0, codes: new Set() };
    group.count += 1;
    if (code) group.codes.add(code);
    groups.set(word, group);
  }
  return [...kinds.keys(), ...groups.keys()].filter((word, index, all) => all.indexOf(word) === index)
    .filter((word) => groups.has(word)).map((word) => {
      const { count, codes } = groups.get(word);
      const text = word === "sent" ? `${plural(count, "request")} without a result`
        : `${count} ${word === "waits" ? agree(count, "waits", "wait") : word}`;
      return codes.size > 0 ? `${text} (${[...codes].join(", ")})` : text;
    }).join(" · ");
}
