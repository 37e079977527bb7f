// The simulator's state, which the page can change: devices, channels, switches.

import { call } from "./api.js";
import { byID, make, reconcile, setText } from "./dom.js";
import { attempt } from "./outcome.js";
import { formatCount } from "./words.js";

export const shownMax = 100;
const states = ["active", "unregistered", "expired", "bad", "not_for_topic"];

let refresh = async () => {};

// Calls `changed` after each change. `changed` must draw the page again.
export function start(changed) {
  refresh = changed;
  byID("device-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const [token, app, state] = ["token", "app", "state"].map((part) => byID(`device-${part}`).value.trim());
    change("device-outcome", async () => {
      await call("PUT", `/v1/devices/${encodeURIComponent(token)}`, { app, state });
      byID("device-form").reset();
      return `The device is ${state.replaceAll("_", " ")}.`;
    });
  });
  byID("switch-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = byID("switch-name").value.trim();
    change("switch-outcome", async () => {
      await call("PUT", "/v1/rules", { [name]: valueOf(byID("switch-value").value.trim()) });
      return `Switch ${name} changed.`;
    });
  });
  byID("switch-name").addEventListener("input", () => {
    const value = rules[byID("switch-name").value];
    if (value !== undefined) byID("switch-value").value = String(value);
  });
}

// Parses the value of a switch, which is a number, true, false, null or a word.
function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export async function change(outcome, operation) {
  await attempt(byID(outcome), operation);
  await refresh();
}

export function drawDevices({ devices, left_out: leftOut }) {
  byID("devices-nothing").hidden = devices.length > 0;
  more("devices-more", leftOut);
  reconcile(byID("device-list"), devices, (device) => device.token, buildDevice, updateDevice);
}

function buildDevice(device) {
  const name = device.token.length > 12 ? `${device.token.slice(0, 8)}…+${device.token.length - 8}` : device.token;
  const state = make("select", { "aria-label": `State of ${name}` },
    states.map((word) => make("option", { value: word }, word.replaceAll("_", " "))));
  state.addEventListener("change", () => {
    const word = state.value;
    change("device-outcome", async () => {
      await call("PUT", `/v1/devices/${device.token}`, { state: word });
      return `${name} is ${word.replaceAll("_", " ")}.`;
    });
  });
  const remove = make("button", { type: "button", class: "small", "aria-label": `Remove ${name}` }, "Remove");
  remove.addEventListener("click", () => change("device-outcome", async () => {
    await call("DELETE", `/v1/devices/${device.token}`);
    return `Device ${name} removed.`;
  }));
  const element = make("li", {}, make("code", {}, name), state, remove, make("p", { class: "about" }));
  updateDevice(element, device);
  return element;
}

function updateDevice(element, device) {
  element.querySelector("select").value = device.state;
  setText(element.querySelector(".about"), [device.app, device.environment].filter(Boolean).join(" · "));
}

export function drawChannels(channels) {
  byID("channels-nothing").hidden = channels.length > 0;
  more("channels-more", channels.length - shownMax);
  const keyOf = (channel) => `${channel.environment} ${channel.app} ${channel.id}`;
  reconcile(byID("channel-list"), channels.slice(-shownMax).reverse(), keyOf, (channel) => {
    const remove = make("button", { type: "button", class: "small grave", "aria-label": `Delete ${channel.id}` }, "Delete");
    remove.addEventListener("click", () => change("channel-outcome", async () => {
      const query = new URLSearchParams({ app: channel.app, environment: channel.environment });
      await call("DELETE", `/v1/channels/${encodeURIComponent(channel.id)}?${query}`);
      return `Channel ${channel.id} deleted.`;
    }));
    return make("li", {}, make("code", {}, channel.id), remove, make("p", { class: "about" },
      [channel.app, channel.environment, channel.storage_policy === 1 ? "stores the newest" : "stores nothing"].join(" · ")));
  });
}

let rules = {};

export function drawRules(current) {
  rules = current;
  const list = Object.entries(current);
  reconcile(byID("switch-names"), list, ([name]) => name, ([name]) => make("option", { value: name }));
  reconcile(byID("switch-list"), list, ([name]) => name,
    ([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value))),
    (element, [, value]) => setText(element.querySelector("dd"), String(value)));
}

export function more(id, leftOut) {
  byID(id).hidden = leftOut <= 0;
  setText(byID(id), `${formatCount(leftOut)} more are not listed.`);
}
