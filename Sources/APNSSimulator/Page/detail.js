// One request with all that is known of it, in a dialog.

import { call } from "./api.js";
import { copyButton } from "./copy.js";
import { curlOf } from "./curl.js";
import { byID, make, setText } from "./dom.js";
import { explain } from "./explain.js";
import { layOut } from "./jsontext.js";
import { addresseeOf, isBroadcast, isPush, payloadCutAt, summaryOf } from "./notification.js";
import { attempt } from "./outcome.js";
import { malformation, neighbour, statusPill } from "./requests.js";
import { formatCount, plural, statusText, timeOfDay } from "./words.js";

const representations = {
  __proto__: null,
  indexed: ["indexed", "name and value stand in the table: nothing is sent but their number"],
  incremental: ["added", "sent in full, and added to the table"],
  without_indexing: ["not added", "sent in full, and not added to the table"],
  never_indexed: ["never", "sent in full, and no one on the way may ever add it to a table"],
};

const priorities = { __proto__: null, 10: "10, now", 5: "5, when power allows", 1: "1, without waking the device" };

let refuseDevice = async () => {};
// The request that is shown, and where the page was before.
let shown = null;
let hashBefore = "";

// `refuse(prefix)` makes a fault that answers 410 to a device.
export function start(refuse) {
  refuseDevice = refuse;
  const dialog = byID("detail");
  byID("detail-close").addEventListener("click", () => dialog.close());
  // A click beside the dialog is one on its backdrop.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    shown = null;
    byID("detail-body").replaceChildren();
    history.replaceState(null, "", hashBefore || location.pathname);
  });
  for (const [id, step] of [["detail-newer", -1], ["detail-older", 1]]) {
    byID(id).addEventListener("click", () => show(neighbour(shown, step)));
  }
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const isAlone = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (step && isAlone && !event.target.closest("pre")) show(neighbour(shown, step));
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

// The request may be gone.
export const close = () => byID("detail").close();

// Opens the request that the address names.
async function openLinked() {
  const number = Number(/^#request-(\d+)$/.exec(location.hash)?.[1]);
  if (!number || shown?.number === number) return;
  await attempt(byID("older-outcome"), async () => {
    const { requests } = await call("GET", `/v1/requests?after=${number - 1}&limit=1`);
    if (requests[0]?.number !== number) throw new Error(`request ${formatCount(number)} is no longer kept`);
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
  drawNeighbours();
  byID("detail-body").replaceChildren(
    make("p", { class: "lead" }, summaryOf(request)), identity(request), answer(request), facts(request),
    payload(request), headers(request), acts(request));
  byID("detail-body").scrollTop = 0;
}

// To be called when other requests are listed.
export function drawNeighbours() {
  if (shown === null) return;
  byID("detail-newer").disabled = neighbour(shown, -1) === null;
  byID("detail-older").disabled = neighbour(shown, 1) === null;
  // No key that is pressed on it would be told to anybody.
  if (document.activeElement.disabled) byID("detail-heading").focus();
}

function identity(request) {
  const ids = ["apns-id", "apns-request-id"].map((name) => request.headers?.find((header) => header.name === name));
  const { name, value } = ids.find(Boolean) ?? { name: isPush(request) && !isBroadcast(request) ? "apns-id" : "apns-request-id" };
  return make("div", { class: "identity" },
    value ? [make("span", {}, name), " ", make("code", {}, value), copyButton(() => value)]
      : make("span", {}, `It had no ${name}.`),
    make("span", { class: "of-simulator buttons" },
      copyButton(() => location.href, "Copy link"),
      // What is cut short cannot be sent again.
      payloadCutAt(request) === null && copyButton(() => curlOf(request), "Copy as curl")));
}

function answer(request) {
  const unanswered = request.reset ? "Reset" : "Never answered";
  const words = [make("strong", {}, request.status ? statusText(request.status).slice(4) : unanswered)];
  if (request.reset) words.push(" ", make("code", {}, request.reset), " ", malformation(request));
  if (request.reason) words.push(" ", make("code", {}, request.reason));
  const meaning = explain(request);
  if (meaning) words.push(" ", meaning);
  if (request.fault) words.push(` The fault ${request.fault} struck.`);
  return make("p", { class: "answer" }, statusPill(request), make("span", {}, words));
}

function facts(request) {
  const took = request.answered_unix_ms ? request.answered_unix_ms - request.unix_ms : null;
  const list = [
    ["Asked", make("code", {}, `${request.method ?? ""} ${request.path ?? ""}`)],
    ["When", `${timeOfDay(request.unix_ms)}.${String(request.unix_ms % 1000).padStart(3, "0")}${
      took === null ? "" : `, answered ${took < 1 ? "at once" : `after ${formatCount(took)} ms`}`}`],
    ["Where", `${[request.environment, request.service].filter(Boolean).join(", ")}; connection ${request.connection}, stream ${request.stream}`],
    ["Seen before", request.duplicate && "a request with this id came earlier"],
    [isBroadcast(request) ? "Channel" : "Device", isPush(request) && make("code", {}, addresseeOf(request))],
    ["Topic", request.topic && make("code", {}, request.topic)],
    ["Push type", request.push_type],
    ["Priority", priorities[request.priority] ?? request.priority],
    ["Expires", expiration(request.expiration)],
    ["Collapse id", request.collapse_id && make("code", {}, request.collapse_id)],
  ];
  return make("dl", { class: "facts" }, list.map(([name, value]) =>
    value !== undefined && value !== null && value !== false && value !== ""
    && make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function expiration(seconds) {
  if (typeof seconds !== "number") return seconds;
  if (seconds === 0) return "at once: one attempt, never stored";
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });
}

function payload(request) {
  if (!request.payload_bytes) return make("p", { class: "hint" }, "It had no payload.");
  const cutAt = payloadCutAt(request);
  const extent = `${cutAt === null ? "" : `the first ${formatCount(cutAt)} of `}${plural(request.payload_bytes, "byte")}`;
  const head = make("div", { class: "section-head" }, make("h3", {}, `Payload, ${extent}`));
  if (typeof request.payload !== "string") return make("div", {}, head, make("p", { class: "hint" }, "It is no longer kept."));
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
  if (!request.headers?.length) return make("p", { class: "hint" }, "Its headers are no longer kept.");
  return make("div", {},
    make("h3", {}, "Headers, in their order"),
    make("ol", { class: "headers" }, request.headers.map((header) => {
      const [word, meaning] = representations[header.representation] ?? [header.representation ?? "unknown", ""];
      return make("li", {},
        make("span", { class: "name" }, header.name), " ", make("span", { class: "value" }, header.value ?? "(not told)"), " ",
        make("span", { class: `hpack ${header.representation ?? ""}`, title: meaning }, word),
        header.huffman && make("span", { class: "hpack", title: "its text is packed with the Huffman code" }, "huffman"));
    })),
    make("details", { class: "legend" }, make("summary", {}, "What the marks of HPACK mean"),
      make("dl", {}, Object.values(representations).map(([word, meaning]) =>
        make("div", {}, make("dt", {}, word), make("dd", {}, meaning))))));
}

function acts(request) {
  const outcome = make("p", { class: "outcome", role: "status" });
  const buttons = make("div", { class: "buttons" });
  const act = (text, look, deed) => {
    const button = make("button", { type: "button", class: look }, text);
    button.addEventListener("click", () => attempt(outcome, deed));
    buttons.append(button);
  };
  if (isPush(request) && !isBroadcast(request) && request.device_token) {
    const prefix = request.device_token.match(/^[0-9A-Fa-f]{0,8}/)[0];
    if (prefix !== "") {
      act("Have this device refused with 410", null, async () => {
        await refuseDevice(prefix);
        return `Pushes to devices that begin with ${prefix} are refused from now on, until the fault is removed.`;
      });
    }
  }
  if (request.connection) {
    act("Reset its connection", "grave", async () => {
      await call("POST", "/v1/actions", { action: "reset_connection", connection: request.connection });
      return `Connection ${request.connection} is cut.`;
    });
  }
  return make("div", { class: "acts" }, buttons, outcome);
}
