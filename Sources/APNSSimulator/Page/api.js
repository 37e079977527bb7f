// The admin API, as this page uses it.

// Why a call failed: `isGone` when nobody answered, else what the simulator said.
export class APIError extends Error {
  constructor(message, isGone) {
    super(message);
    this.isGone = isGone;
  }
}

const answerDeadlineSeconds = 10;

// Calls an endpoint; the JSON that it answers, or null where there is none.
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
    throw new APIError(error.name === "TimeoutError" ? "it did not answer in time" : "nobody answers", true);
  }
  let json = null;
  try {
    if (text !== "") json = JSON.parse(text);
  } catch {
    throw new APIError("the answer is not JSON: does something else listen there?", true);
  }
  if (!response.ok) throw new APIError(json?.error ?? `status ${response.status}`, false);
  return json;
}
