// The lock screen shows accepted pushes, newest first, in stacks by app, push type and thread.

import { arrivalClass } from "./arrival.js";
import { byID, icon, make, put, reconcile, setText } from "./dom.js";
import { addresseeOf, describe, deviceOf, isBroadcast, isPush, namesOf } from "./notification.js";
import { finder, suggest } from "./search.js";
import { formatCount, plural, timeOfDay } from "./words.js";

const notesMax = 200;
const notesOpenMax = 20;
const devicesMax = 50;

// Notifications, newest first.
let notes = [];
const replacements = new Map();
// The shortened token of each device by its key. The device of the newest push is last.
const devices = new Map();
const openStacks = new Set();
// The search text; empty for all devices.
let device = "";
let showDetail = () => {};

export function start(open) {
  showDetail = open;
  byID("device").addEventListener("input", (event) => {
    device = event.target.value.trim();
    draw();
  });
}

export function add(requests) {
  for (const request of requests) {
    if (!isPush(request) || request.status !== 200) continue;
    const note = describe(request);
    const older = notes.findIndex((other) => other.identity === note.identity);
    if (older !== -1) inherit(note, notes.splice(older, 1)[0]);
    replacements.set(note.identity, older === -1 ? 0 : (replacements.get(note.identity) ?? 0) + 1);
    notes.unshift(note);
    if (!isBroadcast(request)) remember(deviceOf(request), addresseeOf(request));
  }
  for (const dropped of notes.splice(notesMax)) replacements.delete(dropped.identity);
  drawDevices();
  draw();
}

// Only the start of a Live Activity contains its type and attributes.
function inherit(note, older) {
  if (!note.activity) return;
  note.activity.type ||= older.activity.type;
  if (note.activity.attributes.length === 0) note.activity.attributes = older.activity.attributes;
}

export function clear() {
  notes = [];
  replacements.clear();
  devices.clear();
  openStacks.clear();
  device = "";
  byID("device").value = "";
  drawDevices();
  draw();
}

export const isEmpty = () => notes.length === 0;

// `now`: the simulator's time in milliseconds since 1970.
export function drawTime(now) {
  setText(byID("screen-time"), timeOfDay(now, { seconds: false }));
  setText(byID("screen-date"), new Date(now).toLocaleDateString("en", { weekday: "long", day: "numeric", month: "long" }));
}

function remember(key, token) {
  devices.delete(key);
  devices.set(key, token);
  for (const oldest of devices.keys()) {
    if (devices.size <= devicesMax) break;
    devices.delete(oldest);
  }
}

function drawDevices() {
  suggest(byID("devices"), namesOf(devices).map(([, name]) => name).reverse());
}

function draw() {
  const isFound = finder(device, new Map(namesOf(devices)));
  const shown = notes.filter((note) => note.activity?.channel || isFound(deviceOf(note.request), addresseeOf(note.request)));
  const stacks = new Map();
  for (const note of shown) {
    // One device shows each Live Activity separately. Activities of several devices are stacked like notifications.
    const key = note.activity && device !== "" ? note.identity : note.stack;
    if (!stacks.has(key)) stacks.set(key, { key, notes: [] });
    stacks.get(key).notes.push(note);
  }
  byID("lock-nothing").hidden = stacks.size > 0;
  reconcile(
    byID("stacks"), [...stacks.values()], (stack) => stack.key,
    (stack) => drawStack(make("li", { class: "stack" }, make("ol", { class: "notes" })), stack), drawStack);
}

function drawStack(element, stack) {
  const isOpen = openStacks.has(stack.key);
  const count = stack.notes.length;
  element.classList.toggle("folded", count > 1 && !isOpen);
  reconcile(
    element.querySelector(".notes"), stack.notes.slice(0, isOpen ? notesOpenMax : 1), (note) => `${note.request.number} ${note.request.unix_ms}`,
    card);
  let more = element.querySelector(".more");
  if (count < 2) {
    more?.remove();
    return element;
  }
  if (!more) {
    more = make("button", { type: "button", class: "more" });
    more.addEventListener("click", () => {
      if (!openStacks.delete(stack.key)) openStacks.add(stack.key);
      draw();
    });
    element.append(more);
  }
  more.setAttribute("aria-expanded", String(isOpen));
  const hidden = count - notesOpenMax;
  const about = stack.notes[0].thread ? `${stack.notes[0].app.name}, ${stack.notes[0].thread}` : stack.notes[0].app.name;
  setText(more, isOpen
    ? `Collapse${hidden > 0 ? `; ${plural(hidden, "older one")} not shown` : ""}`
    : `${formatCount(count - 1)} more from ${about}`);
  return element;
}

function card(note) {
  const element = make("li", {
    class: `card ${note.kind} ${note.level} ${note.isOnScreen ? "" : "unseen-by-user"} ${arrivalClass()}`,
  });
  const replaced = replacements.get(note.identity) ?? 0;
  const opener = make("button", { type: "button", class: "opener" }, headline(note));
  opener.addEventListener("click", () => showDetail(note.request));
  put(element, [
    make("p", { class: "from" }, appIcon(note), make("span", { class: "app" }, note.app.name), levelTag(note),
      make("time", {}, timeOfDay(note.request.unix_ms, { seconds: false }))),
    make("p", { class: "title" }, opener),
    note.title && note.subtitle && make("p", { class: "subtitle" }, words(note.subtitle)),
    bodyOf(note),
    note.activity && activityState(note.activity),
    !note.activity && note.effect && pairs(note.custom),
    extras(note, replaced),
  ]);
  return element;
}

// Returns the first available text. Every card needs a title, which opens the request.
function headline(note) {
  if (note.title) return words(note.title);
  if (note.activity) return note.activity.type || "Live Activity";
  if (note.effect) return note.effect;
  if (note.subtitle ?? note.body) return words(note.subtitle ?? note.body);
  if (!note.isReadable) return "Payload is not a JSON object";
  if (note.badge !== null) return note.badge === 0 ? "Removes the badge" : `Sets the badge to ${note.badge}`;
  return note.sound ? "Plays a sound" : "Nothing to show";
}

function bodyOf(note) {
  const isHeadline = !note.title && !note.subtitle && !note.activity && !note.effect;
  return note.body && !isHeadline ? make("p", { class: "body" }, words(note.body)) : null;
}

// Returns a text, or the key of a text that the app contains.
function words(piece) {
  if (!piece.isKey) return piece.text;
  const values = piece.values.length > 0 ? [" ", make("span", { class: "gaps" }, piece.values.join(", "))] : [];
  return [make("span", { class: "key", title: "The app contains the text for this key" }, piece.text), values];
}

function appIcon(note) {
  const picture = make("span", { class: "app-icon", "aria-hidden": "true" }, [...note.app.name][0]);
  picture.style.setProperty("--hue", String(hue(note.app.bundleID)));
  return picture;
}

function hue(text) {
  let sum = 7;
  for (const character of text) sum = (sum * 31 + character.codePointAt(0)) % 360;
  return sum;
}

function levelTag(note) {
  const tags = {
    "time-sensitive": ["clock", "Time sensitive"], critical: ["alarm", "Critical"], passive: ["moon", "Passive"],
  };
  if (note.activity) {
    const { channel, event } = note.activity;
    return make("span", { class: "tag" }, icon(channel === null ? "live" : "tower"),
      `${channel === null ? "Live" : "Broadcast"}, ${event}`);
  }
  if (!note.isOnScreen) return make("span", { class: "tag" }, icon(note.icon), "Not shown");
  if (note.kind !== "alert") return make("span", { class: "tag" }, icon(note.icon), note.kind === "voip" ? "VoIP" : "Talk");
  const tag = tags[note.level];
  return tag ? make("span", { class: "tag" }, icon(tag[0]), tag[1]) : null;
}

function activityState(activity) {
  return pairs([...activity.attributes, ...activity.state]);
}

function pairs(list) {
  if (list.length === 0) return null;
  return make("dl", { class: "pairs" }, list.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

// Sound, badge and thread of a push, and its device or channel.
function extras(note, replaced) {
  const { sound, badge, thread, activity, request } = note;
  const volume = sound?.volume == null ? "" : `, ${Math.round(sound.volume * 100)} %`;
  const list = [
    sound && chip("bell", `${sound.name === "default" ? "Sound" : sound.name}${volume}`),
    badge === 0 && chip(null, "removes the badge"),
    badge !== null && badge !== 0
      && make("span", { class: "badge" }, make("span", { class: "unseen" }, "Badge "), String(badge)),
    thread && chip("list", thread),
    replaced > 0 && chip(null, `replaces ${plural(replaced, "earlier one")}`),
    chip(activity?.channel ? "tower" : "phone", make("span", { class: "token" }, addresseeOf(request))),
  ].filter(Boolean);
  return make("p", { class: "extras" }, list);
}

function chip(name, content) {
  return make("span", { class: "chip" }, name && icon(name), content);
}
