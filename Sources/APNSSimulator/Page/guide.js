// How to point a client at this simulator, shown until the first request has come.

import { call } from "./api.js";
import { copyButton } from "./copy.js";
import { byID, make } from "./dom.js";

const services = [
  ["port", "Pushes and broadcasts, sandbox"], ["production_port", "Pushes and broadcasts, production"],
  ["channel_port", "Channel management, sandbox"], ["production_channel_port", "Channel management, production"],
];

let ready = {};

export async function start() {
  ready = (await call("GET", "/v1/ready")) ?? {};
  byID("guide").replaceChildren(facts(), ...line());
}

// Where a request to this service would go.
export function addressOf(request) {
  const channels = request.service === "channel-management";
  const member = request.environment === "production"
    ? (channels ? "production_channel_port" : "production_port") : channels ? "channel_port" : "port";
  return `${"https:"}//${hostName()}:${ready[member] ?? ""}`;
}

// The file that a client has to trust, where there is one.
export const authority = () => ready.authority_file ?? null;

// The certificate is good for this name and not for every address.
const hostName = () => (["127.0.0.1", "::1", undefined].includes(ready.host) ? "localhost" : ready.host);

function facts() {
  const list = [
    ...services.map(([member, name]) => [name, ready[member] && `${hostName()}:${ready[member]}`]),
    ["Authority to trust", ready.authority_file], ["Signing key", ready.key_file],
    ["Key ID", ready.key_id], ["Team ID", ready.team_id], ["Topic", ready.topic],
  ];
  return make("dl", { class: "facts" }, list.map(([name, value]) =>
    value && make("div", {}, make("dt", {}, name), make("dd", {}, make("code", {}, value)))));
}

// A push that needs no token: its certificate says who sends it.
function line() {
  const port = ready.port ?? ready.production_port;
  if (!ready.client_certificate_file || !port) {
    return [make("p", { class: "hint" }, "Start it with --write-demo DIR to have the files that a client needs.")];
  }
  const command = [
    `curl --http2 --cacert ${ready.authority_file}`,
    `--cert ${ready.client_certificate_file} --key ${ready.client_key_file}`,
    `-H 'apns-topic: ${ready.topic}'`, `-d '{"aps":{"alert":"Hello"}}'`,
    `${"https:"}//${hostName()}:${port}/3/device/00fc13adff785122`,
  ].join(" \\\n  ");
  return [
    make("div", { class: "section-head" }, make("h3", {}, "A first push"), copyButton(() => command)),
    make("pre", { class: "command", tabindex: "0", role: "region", "aria-label": "A command that pushes" }, command),
  ];
}
