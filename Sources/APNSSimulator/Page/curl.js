// A curl command that sends a logged request again.

import { call } from "./api.js";
import { addressOf, authority, certificate } from "./guide.js";
import { shellWord } from "./words.js";

// The log has no signatures, so the user must fill in the provider token.
const tokenPlaceholder = "bearer $PROVIDER_TOKEN";

export async function curlOf(request) {
  const complete = await completeRequest(request);
  const headers = (complete.headers ?? [])
    .filter(({ name, value }) => !name.startsWith(":") && name !== "content-length" && value !== undefined);
  const trust = authority();
  const shown = complete.certificate ? certificate() : null;
  return [
    `curl --http2 --globoff --path-as-is${trust === null ? " --insecure" : ` --cacert ${shellWord(trust)}`}`,
    ...(shown ? [`--cert ${shellWord(shown.file)} --key ${shellWord(shown.keyFile)}`] : []),
    `-X ${shellWord(complete.method ?? "POST")}`,
    ...headers.map(({ name, value }) =>
      name === "authorization" ? `-H "${name}: ${tokenPlaceholder}"` : `-H ${shellWord(headerOf(name, value))}`),
    ...(typeof complete.payload === "string" && complete.payload !== "" ? [`--data-raw ${shellWord(complete.payload)}`] : []),
    ...targetOf(complete),
  ].join(" \\\n  ");
}

// A path without a leading slash would become a part of the authority. For example, "@host/" would send the request to
// that host.
function targetOf(request) {
  const path = request.path ?? "";
  if (path === "" || path.startsWith("/")) return [shellWord(`${addressOf(request)}${path}`)];
  return [`--request-target ${shellWord(path)}`, shellWord(`${addressOf(request)}/`)];
}

// curl omits a header with an empty value after a colon. A semicolon makes curl send it.
const headerOf = (name, value) => (value === "" ? `${name};` : `${name}: ${value}`);

// Fetches the request again with its complete device token.
async function completeRequest(request) {
  const answer = await call("GET", `/v1/requests?after=${request.number - 1}&limit=1&full_tokens=1`);
  const complete = answer.requests[0];
  if (complete?.number !== request.number || complete.unix_ms !== request.unix_ms) throw new Error("the request is no longer in the log");
  return complete;
}
