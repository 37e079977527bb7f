// Calls of the console's API.

// The failure of a call. `isGone` is true if the console did not respond, or the response is not JSON. `code` is the
// console's word for the error, and `remedy` a command or sentence; null without one. `details`: the whole answer.
export class APIError extends Error {
  constructor(message, { isGone = false, status = 0, code = null, remedy = null, details = {} } = {}) {
    super(message);
    Object.assign(this, { isGone, status, code, remedy, details });
  }
}

const answerDeadlineSeconds = 15;

// The time without a key or pointer after which requests are unattended. These keep no session alive.
const attendedSeconds = 60;

let attendedAt = performance.now();
for (const event of ["keydown", "pointerdown"]) {
  addEventListener(event, () => (attendedAt = performance.now()), { capture: true, passive: true });
}

let session = null;
let onLogin = () => {};

// Sets the session of all later calls; null without one.
export function useSession(text) {
  session = text;
}

// Calls `handler` after each response that asks for a login.
export function whenLoginIsNeeded(handler) {
  onLogin = handler;
}

// The newest entity tag and JSON of each path that sends one.
const kept = new Map();
const keptMax = 8;

// Calls an endpoint. Returns the JSON of the response, or null for an empty response. Throws an `APIError`.
// `keeps`: whether an unchanged response may come from the page's memory.
export async function call(method, path, body, { waitSeconds = 0, signal, keeps = false } = {}) {
  const deadline = AbortSignal.timeout((waitSeconds + answerDeadlineSeconds) * 1000);
  const asked = session;
  let response, text;
  try {
    response = await fetch(path, {
      method,
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(asked === null ? {} : { authorization: `Bearer ${asked}` }),
        ...(performance.now() - attendedAt > attendedSeconds * 1000 ? { "martlet-unattended": "1" } : {}),
        ...(keeps && kept.has(path) ? { "if-none-match": kept.get(path).tag } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      // A proxy before the console may know the operator by a cookie. The console ignores cookies.
      credentials: "same-origin",
      referrerPolicy: "no-referrer",
    });
    text = await response.text();
  } catch (error) {
    throw new APIError(error.name === "TimeoutError" ? "timeout" : "no response", { isGone: true });
  }
  if (response.status === 304 && kept.has(path)) return kept.get(path).json;
  let json = null;
  try {
    if (text !== "") json = JSON.parse(text);
  } catch {
    // A proxy answers with its login page after the end of its own session.
    const isLogin = [401, 403].includes(response.status);
    throw new APIError(isLogin ? "a proxy requires a login; reload the page" : "the response is not JSON",
      { isGone: true, status: response.status });
  }
  if (!response.ok) {
    if (response.status === 401 && asked !== null && asked === session) onLogin();
    throw new APIError(textOr(json?.error, `status ${response.status}`), {
      status: response.status, code: textOr(json?.code, null), remedy: textOr(json?.remedy, null),
      details: json ?? {},
    });
  }
  const tag = response.headers.get("etag");
  if (keeps && tag) keep(path, { tag, json });
  return json;
}

const textOr = (value, other) => (typeof value === "string" && value !== "" ? value : other);

function keep(path, answer) {
  kept.delete(path);
  kept.set(path, answer);
  if (kept.size > keptMax) kept.delete(kept.keys().next().value);
}

// Removes all kept responses, after a logout.
export function forgetAnswers() {
  kept.clear();
}

// Returns the query of a URL, including the question mark. Null and empty values are omitted.
export function query(values) {
  const present = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return present.length === 0 ? "" : `?${new URLSearchParams(present)}`;
}
