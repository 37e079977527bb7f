// Instructions for connecting a client, shown until the first request arrives.

import { call } from "./api.js";
import { copyButton } from "./copy.js";
import { byID, make } from "./dom.js";
import { shellWord } from "./words.js";

let ready = {};

export async function draw() {
  ready = (await call("GET", "/v1/ready")) ?? {};
  byID("guide").replaceChildren(facts(), ...line());
}

// Returns the address of a service. Throws if the simulator does not listen for it.
export function addressOf({ environment = "sandbox", service = "push" }) {
  const listener = listeners().find((other) => other.environment === environment && other.service === service);
  if (!listener) throw new Error(`the simulator does not listen for ${environment} ${service}`);
  return `https://${placeOf(listener)}`;
}

// The file of the authority that a client must trust; null without such a file.
export const authority = () => ready.authority_file ?? null;

// The certificate that a client can present instead of a provider token; null without a certificate.
export const certificate = () =>
  (ready.client_certificate_file ? { file: ready.client_certificate_file, keyFile: ready.client_key_file } : null);

const listeners = () => ready.listeners ?? [];

// Returns the host and port for clients. The server certificate is valid for `localhost`, but not for every address.
function placeOf({ host, port }) {
  const name = ["127.0.0.1", "::1"].includes(host) ? "localhost" : ["0.0.0.0", "::"].includes(host) ? location.hostname : host;
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
}

function facts() {
  const what = (service) => (service === "push" ? "Pushes and broadcasts" : "Channel management");
  const list = [
    ...listeners().map((listener) => [`${what(listener.service)}, ${listener.environment}`, placeOf(listener)]),
    ["Authority to trust", ready.authority_file], ["Signing key", ready.key_file],
    ["Key ID", ready.key_id], ["Team ID", ready.team_id], ["Topic", ready.topic],
  ];
  return make("dl", { class: "facts" }, list.map(([name, value]) =>
    value && make("div", {}, make("dt", {}, name), make("dd", {}, make("code", {}, value)))));
}

// Returns elements with a command for a push that authenticates with the certificate instead of a token. Returns a hint
// if the certificate's file or a push listener is missing.
function line() {
  const listener = listeners().find((other) => other.service === "push");
  if (!ready.client_certificate_file || !listener) {
    return [make("p", { class: "hint" }, "To get the files that a client needs, start the simulator with --write-demo DIR.")];
  }
  const command = [
    `curl --http2 --cacert ${shellWord(ready.authority_file)}`,
    `--cert ${shellWord(ready.client_certificate_file)} --key ${shellWord(ready.client_key_file)}`,
    `-H 'apns-topic: ${ready.topic}'`, `-d '{"aps":{"alert":"Hello"}}'`,
    `https://${placeOf(listener)}/3/device/00fc13adff785122`,
  ].join(" \\\n  ");
  return [
    make("div", { class: "section-head" }, make("h3", {}, "A first push"), copyButton(() => command)),
    make("pre", { class: "command", tabindex: "0", role: "region", "aria-label": "Command that sends a push" }, command),
  ];
}
