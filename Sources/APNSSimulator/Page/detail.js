// The dialog with all details of one request.

import { call } from "./api.js";
import { copyButton } from "./copy.js";
import { curlOf } from "./curl.js";
import { byID, make, setText } from "./dom.js";
import { explain } from "./explain.js";
import { layOut } from "./jsontext.js";
import { addresseeOf, isBroadcast, isPush, payloadCutAt, summaryOf } from "./notification.js";
import { attempt } from "./outcome.js";
import { malformation, neighbor, statusPill } from "./requests.js";
import { formatCount, plural, statusText, timeOfDay } from "./words.js";

const representations = {
  __proto__: null,
  indexed: ["indexed", "name and value are in the table: only their index is sent"],
  incremental: ["added", "sent in full, and added to the table"],
  without_indexing: ["not added", "sent in full, and not added to the table"],
  never_indexed: ["never", "sent in full, and no intermediary may add it to a table"],
};

const priorities = { __proto__: null, 10: "10, immediately", 5: "5, when power allows", 1: "1, without waking the device" };

let refuseDevice = async () => {};
// The shown request, and the fragment of the page before the dialog opened.
let shown = null;
let hashBefore = "";

// `refuse(prefix)` adds a fault that answers 410 to pushes to device tokens that begin with the prefix.
export function start(refuse) {
  refuseDevice = refuse;
  const dialog = byID("detail");
  byID("detail-close").addEventListener("click", () => dialog.close());
  // A click outside the dialog has the dialog as its target.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    shown = null;
    byID("detail-body").replaceChildren();
    history.replaceState(null, "", hashBefore || location.pathname);
  });
  for (const [id, step] of [["detail-newer", -1], ["detail-older", 1]]) {
    byID(id).addEventListener("click", () => show(neighbor(shown, step)));
  }
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const isAlone = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (step && isAlone && !event.target.closest("pre")) show(neighbor(shown, step));
  });
  openLinked();
  addEventListener("hashchange", () => {
    if (shown !== null && !location.hash.startsWith("#request-")) {
      hashBefore = location.hash;
      close();
    }
    openLinked();
  });
}

// Closes the dialog, because the request may no longer be in the log.
export const close = () => byID("detail").close();

// Opens the request in the page's fragment.
async function openLinked() {
  const number = Number(/^#request-(\d+)$/.exec(location.hash)?.[1]);
  if (!number || shown?.number === number) return;
  await attempt(byID("older-outcome"), async () => {
    const { requests } = await call("GET", `/v1/requests?after=${number - 1}&limit=1`);
    if (requests[0]?.number !== number) throw new Error(`request ${formatCount(number)} is no longer in the log`);
    open(requests[0]);
    return "";
  });
}

export function open(request) {
  if (!byID("detail").open) {
    hashBefore = location.hash.startsWith("#request-") ? "" : location.hash;
    byID("detail").showModal();
  }
  show(request);
}

function show(request) {
  if (!request) return;
  shown = request;
  history.replaceState(null, "", `#request-${request.number}`);
  setText(byID("detail-heading"), `Request ${formatCount(request.number)}`);
  drawNeighbors();
  byID("detail-body").replaceChildren(
    make("p", { class: "lead" }, summaryOf(request)), identity(request), answer(request), facts(request),
    payload(request), headers(request), acts(request));
  byID("detail-body").scrollTop = 0;
}

// Updates the buttons for other requests. Call it when the list of requests changes.
export function drawNeighbors() {
  if (shown === null) return;
  byID("detail-newer").disabled = neighbor(shown, -1) === null;
  byID("detail-older").disabled = neighbor(shown, 1) === null;
  // A disabled button would receive no key events.
  if (document.activeElement.disabled) byID("detail-heading").focus();
}

function identity(request) {
  const ids = ["apns-id", "apns-request-id"].map((name) => request.headers?.find((header) => header.name === name));
  const { name, value } = ids.find(Boolean) ?? { name: isPush(request) && !isBroadcast(request) ? "apns-id" : "apns-request-id" };
  return make("div", { class: "identity" },
    value ? [make("span", {}, name), " ", make("code", {}, value), copyButton(() => value)]
      : make("span", {}, `The request has no ${name}.`),
    make("span", { class: "of-simulator buttons" },
      copyButton(() => location.href, "Copy link"),
      // A truncated payload cannot be sent again.
      payloadCutAt(request) === null && copyButton(() => curlOf(request), "Copy as curl")));
}

function answer(request) {
  const unanswered = request.reset ? "Reset" : "Never answered";
  const words = [make("strong", {}, request.status ? statusText(request.status).slice(4) : unanswered)];
  if (request.reset) words.push(" ", make("code", {}, request.reset), " ", malformation(request));
  if (request.reason) words.push(" ", make("code", {}, request.reason));
  const meaning = explain(request);
  if (meaning) words.push(" ", meaning);
  if (request.fault) words.push(` The fault ${request.fault} applied.`);
  return make("p", { class: "answer" }, statusPill(request), make("span", {}, words));
}

function facts(request) {
  const took = request.answered_unix_ms ? request.answered_unix_ms - request.unix_ms : null;
  const list = [
    ["Request", make("code", {}, `${request.method ?? ""} ${request.path ?? ""}`)],
    ["Time", `${timeOfDay(request.unix_ms)}.${String(request.unix_ms % 1000).padStart(3, "0")}${
      took === null ? "" : `, answered ${took < 1 ? "immediately" : `after ${formatCount(took)} ms`}`}`],
    ["Connection", `${[request.environment, request.service].filter(Boolean).join(", ")}; connection ${request.connection}, stream ${request.stream}`],
    ["Duplicate", request.duplicate && "an earlier request had this ID"],
    [isBroadcast(request) ? "Channel" : "Device", isPush(request) && make("code", {}, addresseeOf(request))],
    ["Topic", request.topic && make("code", {}, request.topic)],
    ["Push type", request.push_type],
    ["Priority", priorities[request.priority] ?? request.priority],
    ["Expires", expiration(request.expiration)],
    ["Collapse ID", request.collapse_id && make("code", {}, request.collapse_id)],
  ];
  return make("dl", { class: "facts" }, list.map(([name, value]) =>
    value !== undefined && value !== null && value !== false && value !== ""
    && make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function expiration(seconds) {
  if (typeof seconds !== "number") return seconds;
  if (seconds === 0) return "immediately: one attempt, never stored";
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });
}

function payload(request) {
  if (!request.payload_bytes) return make("p", { class: "hint" }, "The request has no payload.");
  const cutAt = payloadCutAt(request);
  const extent = `${cutAt === null ? "" : `the first ${formatCount(cutAt)} of `}${plural(request.payload_bytes, "byte")}`;
  const head = make("div", { class: "section-head" }, make("h3", {}, `Payload, ${extent}`));
  if (typeof request.payload !== "string") return make("div", {}, head, make("p", { class: "hint" }, "The payload is no longer in the log."));
  const text = make("pre", { class: "json", tabindex: "0", role: "region", "aria-label": "Payload" }, layOut(request.payload));
  const asSent = make("button", { type: "button", class: "small", "aria-pressed": "false" }, "As sent");
  asSent.addEventListener("click", () => {
    const isRaw = asSent.getAttribute("aria-pressed") === "false";
    asSent.setAttribute("aria-pressed", String(isRaw));
    text.replaceChildren(...(isRaw ? [request.payload] : layOut(request.payload)));
  });
  head.append(asSent);
  return make("div", {}, head, text);
}

function headers(request) {
  if (!request.headers?.length) return make("p", { class: "hint" }, "The headers are not in the log.");
  return make("div", {},
    make("h3", {}, "Headers in their order"),
    make("ol", { class: "headers" }, request.headers.map((header) => {
      const [word, meaning] = representations[header.representation] ?? [header.representation ?? "unknown", ""];
      return make("li", {},
        make("span", { class: "name" }, header.name), " ", make("span", { class: "value" }, header.value ?? "(hidden)"), " ",
        make("span", { class: `hpack ${header.representation ?? ""}`, title: meaning }, word),
        header.huffman && make("span", { class: "hpack", title: "the value is Huffman-coded" }, "huffman"));
    })),
    make("details", { class: "legend" }, make("summary", {}, "Meaning of the HPACK marks"),
      make("dl", {}, Object.values(representations).map(([word, meaning]) =>
        make("div", {}, make("dt", {}, word), make("dd", {}, meaning))))));
}

function acts(request) {
  const outcome = make("p", { class: "outcome", role: "status" });
  const buttons = make("div", { class: "buttons" });
  const act = (text, look, operation) => {
    const button = make("button", { type: "button", class: look }, text);
    button.addEventListener("click", () => attempt(outcome, operation));
    buttons.append(button);
  };
  if (isPush(request) && !isBroadcast(request) && request.device_token) {
    const prefix = request.device_token.match(/^[0-9A-Fa-f]{0,8}/)[0];
    if (prefix !== "") {
      act("Refuse this device with 410", null, async () => {
        await refuseDevice(prefix);
        return `Pushes to device tokens that begin with ${prefix} are refused until you remove the fault.`;
      });
    }
  }
  if (request.connection) {
    act("Reset the connection", "grave", async () => {
      await call("POST", "/v1/actions", { action: "reset_connection", connection: request.connection });
      return `Reset connection ${request.connection}.`;
    });
  }
  return make("div", { class: "acts" }, buttons, outcome);
}
