// A logged request as a command that sends it again.

import { call } from "./api.js";
import { addressOf, authority, certificate } from "./guide.js";
import { shellWord } from "./words.js";

// The log keeps no signature, so that the provider token stays to be filled in.
const tokenPlaceholder = "bearer $PROVIDER_TOKEN";

export async function curlOf(request) {
  const whole = await wholeOf(request);
  const headers = (whole.headers ?? [])
    .filter(({ name, value }) => !name.startsWith(":") && name !== "content-length" && value !== undefined);
  const trust = authority();
  const shown = whole.certificate ? certificate() : null;
  return [
    `curl --http2 --globoff --path-as-is${trust === null ? " --insecure" : ` --cacert ${shellWord(trust)}`}`,
    ...(shown ? [`--cert ${shellWord(shown.file)} --key ${shellWord(shown.keyFile)}`] : []),
    `-X ${shellWord(whole.method ?? "POST")}`,
    ...headers.map(({ name, value }) =>
      name === "authorization" ? `-H "${name}: ${tokenPlaceholder}"` : `-H ${shellWord(headerOf(name, value))}`),
    ...(typeof whole.payload === "string" && whole.payload !== "" ? [`--data-raw ${shellWord(whole.payload)}`] : []),
    ...targetOf(whole),
  ].join(" \\\n  ");
}

// A path without a leading slash would become a part of the authority: "@host/" sends the request to that host.
function targetOf(request) {
  const path = request.path ?? "";
  if (path === "" || path.startsWith("/")) return [shellWord(`${addressOf(request)}${path}`)];
  return [`--request-target ${shellWord(path)}`, shellWord(`${addressOf(request)}/`)];
}

// curl sends no header of whose value there is nothing behind a colon.
const headerOf = (name, value) => (value === "" ? `${name};` : `${name}: ${value}`);

// With the device token, which is told to those alone who ask for it.
async function wholeOf(request) {
  const answer = await call("GET", `/v1/requests?after=${request.number - 1}&limit=1&full_tokens=1`);
  const whole = answer.requests[0];
  if (whole?.number !== request.number || whole.unix_ms !== request.unix_ms) throw new Error("the request is no longer kept");
  return whole;
}
