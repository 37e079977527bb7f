// Calls of the admin API.

// The failure of a call. `isGone` is true if the simulator did not respond, or the response is not JSON. Otherwise, the
// message is the simulator's error.
export class APIError extends Error {
  constructor(message, isGone) {
    super(message);
    this.isGone = isGone;
  }
}

const answerDeadlineSeconds = 10;

// Calls an endpoint. Returns the JSON of the response, or null for an empty response. Throws an `APIError`.
export async function call(method, path, body, { waitSeconds = 0, signal } = {}) {
  const deadline = AbortSignal.timeout((waitSeconds + answerDeadlineSeconds) * 1000);
  let response, text;
  try {
    response = await fetch(path, {
      method,
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
    });
    text = await response.text();
  } catch (error) {
    throw new APIError(error.name === "TimeoutError" ? "timeout" : "no response", true);
  }
  let json = null;
  try {
    if (text !== "") json = JSON.parse(text);
  } catch {
    throw new APIError("the response is not JSON: another program may use this port", true);
  }
  if (!response.ok) throw new APIError(json?.error ?? `status ${response.status}`, false);
  return json;
}
