// States that the tab keeps over a reload, and over the end of a session until its operator logs in again.

import { current } from "./session.js";

export const keys = { action: "martlet-action", redrive: "martlet-redrive" };

// Digits of the shortest text that may be a whole device token.
const tokenPattern = /[0-9a-f]{32}/i;

// Whether a state contains a device token, which must not be stored.
export const hasToken = (state) => tokenPattern.test(JSON.stringify(state));

export function store(key, state) {
  if (current() === null) return;
  sessionStorage.setItem(key, JSON.stringify({ owner: current().name, state }));
}

// Returns the state of a key; null without one. Removes the state of another operator.
export function restore(key) {
  try {
    const { owner, state } = JSON.parse(sessionStorage.getItem(key)) ?? {};
    if (owner === current()?.name && state) return state;
  } catch {
    // Not a state of this page.
  }
  remove(key);
  return null;
}

export const remove = (key) => sessionStorage.removeItem(key);

export function removeAll() {
  Object.values(keys).forEach(remove);
}
