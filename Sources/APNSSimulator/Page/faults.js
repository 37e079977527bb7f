// The faults in force, with buttons that add and remove them.

import { call } from "./api.js";
import { byID, icon, make, put, reconcile, setText } from "./dom.js";
import { attempt } from "./outcome.js";
import { formatCount, plural, reasons, statusText } from "./words.js";

let refresh = async () => {};

// Calls `changed` after each change. `changed` must draw the list again.
export function start(changed) {
  refresh = changed;
  put(byID("fault-reasons"), reasons.map((reason) => make("option", { value: reason })));
  byID("fault-form").addEventListener("submit", (event) => {
    event.preventDefault();
    add(event.submitter?.value ?? "503");
  });
  // Without this listener, Enter would press the form's first button.
  for (const id of ["fault-status", "fault-reason"]) {
    byID(id).addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      byID("fault-form").requestSubmit(byID("fault-answer"));
    });
  }
  byID("faults-clear").addEventListener("click", () => change(async () => {
    const { deleted } = await call("DELETE", "/v1/faults");
    return `${plural(deleted, "fault")} removed.`;
  }));
  for (const button of document.querySelectorAll("[data-action]")) {
    button.addEventListener("click", () => attempt(byID("action-outcome"), async () => {
      const { connections } = await call("POST", "/v1/actions", { action: button.dataset.action });
      return connections === 0 ? "No client is connected." : `Applied to ${plural(connections, "connection")}.`;
    }));
  }
}

// Changes the faults, shows the outcome, and draws the list again.
async function change(operation) {
  await attempt(byID("fault-outcome"), operation);
  await refresh();
}

export async function refuseDevice(prefix) {
  await call("POST", "/v1/faults", { match: { device_prefix: prefix }, action: unregistered() });
  await refresh();
}

const answerOf = (status, reason) => () => ({ answer: { status, reason } });
const unregistered = () => ({ answer: { status: 410, reason: "Unregistered", timestamp_ms: Date.now() } });

// Returns the answer from the form's fields. The simulator adds the status of a known reason, and rejects incomplete
// answers.
function writtenAnswer() {
  const [status, reason] = [byID("fault-status").value, byID("fault-reason").value.trim()];
  const answer = {};
  if (status !== "") answer.status = Number(status);
  if (reason !== "") answer.reason = reason;
  // Apple's answers with these reasons have a timestamp.
  if (["Unregistered", "ExpiredToken"].includes(reason)) answer.timestamp_ms = Date.now();
  return { answer };
}

const actions = {
  latency: () => ({ latency: { constant_ms: Number(byID("fault-latency").value) } }),
  silence: () => "silence",
  503: answerOf(503, "ServiceUnavailable"),
  429: answerOf(429, "TooManyRequests"),
  410: unregistered,
  answer: writtenAnswer,
  reset_stream: () => ({ reset_stream: "REFUSED_STREAM" }),
};

function add(kind) {
  return change(async () => {
    const topic = byID("fault-topic").value.trim();
    const device = byID("fault-device").value.trim();
    const count = byID("fault-count").value;
    const match = {};
    if (topic !== "") match.topic = topic;
    if (device !== "") match.device_prefix = device;
    const fault = { match, action: actions[kind](), share: Number(byID("fault-share").value) / 100 };
    if (count !== "") fault.count_max = Number(count);
    const skipped = byID("fault-skip").value;
    if (skipped !== "") fault.skip_count = Number(skipped);
    await call("POST", "/v1/faults", fault);
    return "Fault added.";
  });
}

export function draw(faults) {
  byID("faults-nothing").hidden = faults.length > 0;
  byID("faults-clear").hidden = faults.length < 2;
  document.body.classList.toggle("has-faults", faults.length > 0);
  reconcile(byID("fault-list"), faults, (fault) => fault.id, build, update);
}

function build(fault) {
  const action = actionInWords(fault.action);
  const remove = make("button", { type: "button", class: "small", "aria-label": `Remove: ${action}` }, "Remove");
  remove.addEventListener("click", () => change(async () => {
    await call("DELETE", `/v1/faults/${encodeURIComponent(fault.id)}`);
    return "Fault removed.";
  }));
  const element = make("li", {}, icon("bolt"), make("p", { class: "deed" }, action), remove, make("p", { class: "about" }));
  update(element, fault);
  return element;
}

function update(element, fault) {
  const struck = fault.struck ?? 0;
  const pieces = [
    matchInWords(fault),
    fault.skip_count ? `after ${plural(fault.skip_count, "other")}` : null,
    typeof fault.share === "number" && fault.share < 1 ? `${percent(fault.share)} of them` : null,
    ["not applied yet", "applied once"][struck] ?? `applied ${formatCount(struck)} times`,
    typeof fault.count_max === "number" ? `${formatCount(Math.max(fault.count_max - struck, 0))} remaining` : null,
  ];
  setText(element.querySelector(".about"), pieces.filter(Boolean).join(" · "));
}

const percent = (share) => `${Number((share * 100).toPrecision(3))} %`;
const milliseconds = (value) => `${formatCount(value)} ms`;

// Describes an action, which is a word, or an object whose only member is the word with details.
function actionInWords(action) {
  const [name, details] = typeof action === "string" ? [action, null] : Object.entries(action ?? {})[0] ?? ["?", null];
  switch (name) {
  case "latency": return `Delays the answer ${latencyInWords(details)}`;
  case "silence": return "Never answers";
  case "answer": return `Answers ${details.reason ? `${details.status} ${details.reason}` : statusText(details.status)}`;
  case "reset_stream": return `Resets the stream${details ? `: ${details}` : ""}`;
  case "goaway": return `Sends GOAWAY${details?.code ? `: ${details.code}` : ""}`;
  case "reset_connection": return "Resets the connection";
  case "close_connection": return "Closes the connection without GOAWAY";
  case "stop_reading": return `Stops reading${details ? ` for ${milliseconds(details.ms)}` : ""}`;
  case "settings": return `Changes settings: ${settingsInWords(details)}`;
  case "stale_connection": return "Answers 500 for all further requests on the connection";
  default: return name.replaceAll("_", " ");
  }
}

function settingsInWords(settings) {
  return Object.entries(settings).map(([name, value]) => `${name.replaceAll("_", " ")} ${value ?? "omitted"}`).join(", ");
}

function latencyInWords({ constant_ms, min_ms, max_ms, median_ms, p99_ms }) {
  if (constant_ms !== undefined) return `by ${milliseconds(constant_ms)}`;
  if (min_ms !== undefined) return `by ${formatCount(min_ms)} to ${milliseconds(max_ms)}`;
  return `by a median of ${milliseconds(median_ms)}, 99th percentile ${milliseconds(p99_ms)}`;
}

function matchInWords({ trigger, match = {} }) {
  const all = trigger === "connection" ? "new connections" : match.push_type ? `${match.push_type} pushes` : "requests";
  const pieces = [
    match.topic && `to ${match.topic}`,
    match.device_prefix && `to devices ${match.device_prefix}…`,
    match.environment && `in ${match.environment}`,
    match.service && (match.service === "push" ? "at the push port" : "at the channel management port"),
    match.connection && `on connection ${match.connection}`,
    match.idle_seconds_min !== undefined && `after ${formatCount(match.idle_seconds_min)} idle seconds`,
  ].filter(Boolean);
  const subject = all[0].toUpperCase() + all.slice(1);
  return pieces.length === 0 ? `All ${all}` : [subject, ...pieces].join(" ");
}
