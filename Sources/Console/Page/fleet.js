// The reports of the workers, and the state of the broker, which the header shows on each page.

import { call } from "./api.js";

// The newest answer and the time of its arrival; null before it.
let newest = null;

export async function load() {
  const answer = await call("GET", "/api/fleet", undefined, { keeps: true });
  newest = { answer, arrivedAt: Date.now() };
  return answer;
}

export const current = () => newest?.answer ?? null;

export function forget() {
  newest = null;
}

// Seconds since the arrival of the newest answer.
export const age = () => (newest === null ? 0 : (Date.now() - newest.arrivedAt) / 1000);

// Seconds since the console lost the broker; null while it is connected.
export function awaySeconds() {
  const broker = newest?.answer.broker;
  return !broker || broker.connected ? null : (broker.away_seconds ?? 0) + age();
}

export const workers = () => current()?.workers ?? [];

export const isAttentionNeeded = (worker) => stateOf(worker).kind !== "good";

// The state of a worker as a kind and a word.
export function stateOf(worker) {
  if (worker.presence === "silent") return { kind: "silent", word: "silent" };
  if (worker.presence === "ended") return { kind: "silent", word: "ended" };
  if (worker.phase && worker.phase !== "running") return { kind: "busy", word: worker.phase };
  if ((worker.pauses ?? []).some((pause) => pause.scope === "everything")) return { kind: "paused", word: "paused" };
  if (!worker.ready) return { kind: "bad", word: "not ready" };
  if ((worker.breakers ?? []).length > 0) return { kind: "warn", word: "breaker open" };
  return { kind: "good", word: "ready" };
}
