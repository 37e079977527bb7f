// The faults in force, in words, with buttons that add and remove them.

import { call } from "./api.js";
import { byID, icon, make, put, reconcile, setText } from "./dom.js";
import { attempt } from "./outcome.js";
import { formatCount, plural, reasons, statusText } from "./words.js";

let refresh = async () => {};

// `changed` is called after each change, to have the list drawn anew.
export function start(changed) {
  refresh = changed;
  put(byID("fault-reasons"), reasons.map((reason) => make("option", { value: reason })));
  byID("fault-form").addEventListener("submit", (event) => {
    event.preventDefault();
    add(event.submitter?.value ?? "503");
  });
  // Else the form's first button would be meant.
  for (const id of ["fault-status", "fault-reason"]) {
    byID(id).addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      byID("fault-form").requestSubmit(byID("fault-answer"));
    });
  }
  byID("faults-clear").addEventListener("click", () => change(async () => {
    const { deleted } = await call("DELETE", "/v1/faults");
    return `${plural(deleted, "fault is", "faults are")} removed.`;
  }));
  for (const button of document.querySelectorAll("[data-action]")) {
    button.addEventListener("click", () => attempt(byID("action-outcome"), async () => {
      const { connections } = await call("POST", "/v1/actions", { action: button.dataset.action });
      return connections === 0 ? "No client is connected." : `Done to ${plural(connections, "connection")}.`;
    }));
  }
}

// Does something to the faults, says what became of it, and shows the faults as they are then.
async function change(deed) {
  await attempt(byID("fault-outcome"), deed);
  await refresh();
}

export async function refuseDevice(prefix) {
  await call("POST", "/v1/faults", { match: { device_prefix: prefix }, action: unregistered() });
  await refresh();
}

const answerOf = (status, reason) => () => ({ answer: { status, reason } });
const unregistered = () => ({ answer: { status: 410, reason: "Unregistered", timestamp_ms: Date.now() } });

// The text of the field. The simulator knows the status of each of Apple's reasons, and what is missing.
function writtenAnswer() {
  const [status, reason] = [byID("fault-status").value, byID("fault-reason").value.trim()];
  const answer = {};
  if (status !== "") answer.status = Number(status);
  if (reason !== "") answer.reason = reason;
  // Apple's answers of these reasons say since when.
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
    return "The fault is in force.";
  });
}

export function draw(faults) {
  byID("faults-nothing").hidden = faults.length > 0;
  byID("faults-clear").hidden = faults.length < 2;
  document.body.classList.toggle("has-faults", faults.length > 0);
  reconcile(byID("fault-list"), faults, (fault) => fault.id, build, update);
}

function build(fault) {
  const deed = actionInWords(fault.action);
  const remove = make("button", { type: "button", class: "small", "aria-label": `Remove: ${deed}` }, "Remove");
  remove.addEventListener("click", () => change(async () => {
    await call("DELETE", `/v1/faults/${encodeURIComponent(fault.id)}`);
    return "The fault is removed.";
  }));
  const element = make("li", {}, icon("bolt"), make("p", { class: "deed" }, deed), remove, make("p", { class: "about" }));
  update(element, fault);
  return element;
}

function update(element, fault) {
  const struck = fault.struck ?? 0;
  const pieces = [
    matchInWords(fault),
    fault.skip_count ? `after ${plural(fault.skip_count, "other")}` : null,
    typeof fault.share === "number" && fault.share < 1 ? `${percent(fault.share)} of them` : null,
    ["has not struck yet", "struck once"][struck] ?? `struck ${formatCount(struck)} times`,
    typeof fault.count_max === "number" ? `${formatCount(Math.max(fault.count_max - struck, 0))} to come` : null,
  ];
  setText(element.querySelector(".about"), pieces.filter(Boolean).join(" · "));
}

const percent = (share) => `${Number((share * 100).toPrecision(3))} %`;
const milliseconds = (value) => `${formatCount(value)} ms`;

// An action is a word, or an object whose one member is that word with what belongs to it.
function actionInWords(action) {
  const [name, details] = typeof action === "string" ? [action, null] : Object.entries(action ?? {})[0] ?? ["?", null];
  switch (name) {
  case "latency": return `Answers late, ${latencyInWords(details)}`;
  case "silence": return "Never answers";
  case "answer": return `Answers ${details.reason ? `${details.status} ${details.reason}` : statusText(details.status)}`;
  case "reset_stream": return `Resets the stream${details ? `: ${details}` : ""}`;
  case "goaway": return `Sends GOAWAY${details?.code ? `: ${details.code}` : ""}`;
  case "reset_connection": return "Resets the connection";
  case "close_connection": return "Closes the connection without a word";
  case "stop_reading": return `Stops reading${details ? ` for ${milliseconds(details.ms)}` : ""}`;
  case "settings": return `Changes settings: ${settingsInWords(details)}`;
  case "stale_connection": return "Answers 500 on that connection from then on";
  default: return name.replaceAll("_", " ");
  }
}

function settingsInWords(settings) {
  return Object.entries(settings).map(([name, value]) => `${name.replaceAll("_", " ")} ${value ?? "left out"}`).join(", ");
}

function latencyInWords({ constant_ms, min_ms, max_ms, median_ms, p99_ms }) {
  if (constant_ms !== undefined) return `by ${milliseconds(constant_ms)}`;
  if (min_ms !== undefined) return `by ${formatCount(min_ms)} to ${milliseconds(max_ms)}`;
  return `half by ${milliseconds(median_ms)}, one in a hundred by ${milliseconds(p99_ms)}`;
}

function matchInWords({ trigger, match = {} }) {
  const all = trigger === "connection" ? "new connections" : match.push_type ? `${match.push_type} pushes` : "requests";
  const pieces = [
    match.topic && `to ${match.topic}`,
    match.device_prefix && `to devices ${match.device_prefix}…`,
    match.environment && `in ${match.environment}`,
    match.service && (match.service === "push" ? "at the push port" : "at the port of channel management"),
    match.connection && `on connection ${match.connection}`,
    match.idle_seconds_min !== undefined && `after ${formatCount(match.idle_seconds_min)} idle seconds`,
  ].filter(Boolean);
  const subject = all[0].toUpperCase() + all.slice(1);
  return pieces.length === 0 ? `All ${all}` : [subject, ...pieces].join(" ");
}
