// The session: its secret in the tab's storage, its owner, and its exchange with other tabs.

import { APIError, call, forgetAnswers, useSession, whenLoginIsNeeded } from "./api.js";

const storageKey = "martlet-session";
// Maximum time to wait for the answer of another tab.
const otherTabMilliseconds = 250;
const codePrefix = "#code=";

const roles = ["view", "operate", "admin"];

// Name, role and other members of the current session; null without one.
let owner = null;
let secret = null;
let onEnd = () => {};
// Whether the operator logs out. The session may have expired.
let isLoggingOut = false;

const channel = new BroadcastChannel("martlet-session");

// Removes the login code from the address immediately, before any other work of the page.
const code = takeCode();

function takeCode() {
  if (!location.hash.startsWith(codePrefix)) return null;
  const text = location.hash.slice(codePrefix.length);
  history.replaceState(null, "", location.pathname);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

channel.addEventListener("message", ({ data }) => {
  if (data?.word === "ask" && secret !== null) channel.postMessage({ word: "answer", to: data.from, session: secret });
  if (data?.word === "end" && secret !== null && data.session === secret) forget("Logged out in another tab.", true);
});

whenLoginIsNeeded(() => forget("The session has ended. Log in again.", isLoggingOut));

// Calls `ended(reason, isLoggedOut)` after the end of a session. `isLoggedOut`: whether the operator has ended it.
export function start(ended) {
  onEnd = ended;
}

export const current = () => owner;

// Returns a command with the options of the console's configuration.
export const commandOf = (name) => owner?.commands?.[name] ?? "";

// Opens a session from the code in the address, this tab's storage, another tab, or the headers of a proxy. Returns
// whether one is open. Throws an `APIError` if the code is wrong, the proxy's user has no role, or the console does not
// respond.
export async function resume() {
  if (code !== null) {
    await logIn({ code });
    return true;
  }
  const known = sessionStorage.getItem(storageKey) ?? await askOtherTabs();
  if (known !== null && await opens(() => adopt(known))) return true;
  return opens(() => logIn({}));
}

// Runs a login. Returns false if the session has ended, or if no proxy has added the headers of a user.
async function opens(login) {
  try {
    await login();
    return true;
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.status === 401 || (error.status === 400 && error.code === "invalid")) return false;
    throw error;
  }
}

// Opens a session with `{ code }`, `{ token }`, or `{}` for the headers of a proxy.
export async function logIn(credential) {
  useSession(null);
  const answer = await call("POST", "/api/session", credential);
  await adopt(answer.session);
}

async function adopt(text) {
  secret = text;
  useSession(text);
  sessionStorage.setItem(storageKey, text);
  await refresh();
}

// Reads the owner of the session again.
export async function refresh() {
  const answer = await call("GET", "/api/session");
  owner = { ...answer, endsAt: Date.now() + (answer.expires_in_seconds ?? 0) * 1000 };
}

export async function logOut() {
  const ended = secret;
  isLoggingOut = true;
  try {
    await call("DELETE", "/api/session");
  } finally {
    channel.postMessage({ word: "end", session: ended });
    forget("Logged out.", true);
    isLoggingOut = false;
  }
}

function forget(reason, isLoggedOut) {
  if (secret === null) return;
  [secret, owner] = [null, null];
  useSession(null);
  forgetAnswers();
  sessionStorage.removeItem(storageKey);
  onEnd(reason, isLoggedOut);
}

// Returns the session of another tab, or null without an answer.
function askOtherTabs() {
  const from = crypto.getRandomValues(new Uint32Array(4)).join("-");
  return new Promise((resolve) => {
    const done = (text) => {
      clearTimeout(timer);
      channel.removeEventListener("message", receive);
      resolve(text);
    };
    const receive = ({ data }) => {
      if (data?.word === "answer" && data.to === from && typeof data.session === "string") done(data.session);
    };
    const timer = setTimeout(() => done(null), otherTabMilliseconds);
    channel.addEventListener("message", receive);
    channel.postMessage({ word: "ask", from });
  });
}

const rank = (role) => roles.indexOf(role);

// The lower of the session's role and the console's maximum.
export function role() {
  return roles[Math.min(rank(owner?.role), rank(owner?.role_max ?? "admin"))] ?? "view";
}

// The actions of consoles that do not list theirs.
const actionsOfFirstVersion = ["pause", "resume", "test_push"];

// Whether the console has the action and the session, which has at least the role `needed`, may run it.
export const offers = (action, needed = "operate") =>
  may(needed) && (owner?.actions ?? actionsOfFirstVersion).includes(action);

export const may = (needed) => rank(role()) >= rank(needed);

// Returns the command that opens a session. Only the user of the console may run it.
export const openCommand = (role = null) =>
  `sudo -u martlet-console martlet console open${role === null ? "" : ` --role ${role}`}`;

// Returns the reason why the session may not run actions of a role, and the remedy; null if it may.
export function refusal(needed) {
  if (may(needed)) return null;
  if (rank(owner?.role_max ?? "admin") < rank(needed)) {
    return {
      error: `This console permits at most the role ${owner.role_max}. The action needs the role ${needed}.`,
      remedy: `Set console.role_max: ${needed} in the configuration, and restart martlet console.`,
    };
  }
  return {
    error: `Your role is ${role()}. The action needs the role ${needed}.`,
    remedy: openCommand(needed),
  };
}
