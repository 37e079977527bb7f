// The presentation of pushes on a device and in lists, by pure functions of a request of the admin API. A payload can
// have any shape, so each value may be of any type.

// The presentation of each push type. `onScreen` is true if the system shows something.
const kinds = {
  __proto__: null,
  alert: { icon: "bell", onScreen: true },
  liveactivity: { icon: "live", onScreen: true },
  voip: { icon: "call", onScreen: true, effect: "Incoming call" },
  pushtotalk: { icon: "talk", onScreen: true, effect: "Push to talk" },
  background: { icon: "gear", effect: "Wakes the app in the background" },
  complication: { icon: "clock", effect: "Updates the complication" },
  controls: { icon: "grid", effect: "Reloads the controls" },
  fileprovider: { icon: "folder", effect: "Reports changed files" },
  location: { icon: "place", effect: "Requests the device's location" },
  mdm: { icon: "shield", effect: "Requests a check-in with the management server" },
  widgets: { icon: "grid", effect: "Reloads the widgets" },
};

const activityEvents = { __proto__: null, start: "started", update: "updated", end: "ended" };

const suffixes = [
  [".push-type.liveactivity", "liveactivity"],
  [".push-type.controls", "controls"],
  [".push-type.widgets", "widgets"],
  [".pushkit.fileprovider", "fileprovider"],
  [".location-query", "location"],
  [".complication", "complication"],
  [".voip-ptt", "pushtotalk"],
  [".voip", "voip"],
];

// Returns the topic suffix of a push type; null if the type has none or is unknown.
export const topicSuffixOf = (pushType) => suffixes.find(([, kind]) => kind === pushType)?.[0] ?? null;

export const isPushType = (word) => word in kinds;

const levels = ["passive", "active", "time-sensitive", "critical"];

export function isBroadcast(request) {
  return typeof request.path === "string" && request.path.startsWith("/4/broadcasts/");
}

export function isPush(request) {
  return isBroadcast(request) || (typeof request.path === "string" && request.path.startsWith("/3/device/"));
}

// Returns the device token or channel ID of a push.
export function addresseeOf(request) {
  if (isBroadcast(request)) return request.channel_id ?? "";
  return request.device_token ?? "";
}

// Returns the key of a device, which distinguishes equal shortened tokens.
export const deviceOf = (request) => plain(request.device);

// Returns a name for each addressee: its shortened token, with a part of its key if two tokens are equal.
export function namesOf(addressees) {
  const tokens = [...addressees.values()];
  const isShared = (token) => tokens.indexOf(token) !== tokens.lastIndexOf(token);
  return [...addressees].map(([key, token]) => [key, isShared(token) ? `${token} (${key.slice(0, 4)})` : token]);
}

// The log keeps no more of a payload than the largest limit of any push type.
const payloadBytesKept = 5120;

// Returns the number of kept bytes of a truncated payload; null if the payload is complete.
export function payloadCutAt(request) {
  return request.payload_bytes > payloadBytesKept && request.payload_sha256 === undefined ? payloadBytesKept : null;
}

function parse(request) {
  try {
    const root = JSON.parse(request.payload);
    return isObject(root) ? root : null;
  } catch {
    return null;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const plain = (value) => (typeof value === "string" || typeof value === "number" ? String(value) : "");

// Returns a text of the alert, or its localization key with the arguments.
function textOf(alert, key, nameKey, argumentsKey) {
  if (!isObject(alert)) return key === "body" && plain(alert) ? { text: plain(alert) } : null;
  if (isObject(alert[key])) return textOf(alert[key], "", "loc-key", "loc-args");
  if (plain(alert[nameKey])) {
    const values = Array.isArray(alert[argumentsKey]) ? alert[argumentsKey].map(plain) : [];
    return { text: plain(alert[nameKey]), isKey: true, values };
  }
  return plain(alert[key]) ? { text: plain(alert[key]) } : null;
}

function soundOf(sound) {
  if (plain(sound)) return { name: plain(sound) };
  if (!isObject(sound)) return null;
  const volume = typeof sound.volume === "number" ? Math.min(Math.max(sound.volume, 0), 1) : null;
  return { name: plain(sound.name) || "default", volume, isCritical: sound.critical === 1 };
}

// Parts of bundle IDs that are not names of apps.
const unspecific = new Set(["app", "apps", "ios", "iphone", "mobile", "client", "dev", "debug", "beta", "staging"]);

// Derives a name for the app from its bundle ID. Only the device has the real name.
export function appNameOf(bundleID) {
  const parts = bundleID.split(".").filter((part) => part !== "");
  const part = parts.findLast((part, index) => index > 0 && !unspecific.has(part.toLowerCase())) ?? parts.at(-1) ?? "";
  const words = part.replace(/([a-z])([A-Z])/g, "$1 $2").split(/[-_ ]+/).filter((word) => word !== "");
  return words.map((word) => word[0].toUpperCase() + word.slice(1)).join(" ") || "App";
}

function appOf(request, suffix, kind) {
  const topic = plain(request.topic);
  const broadcastTo = isBroadcast(request) ? request.path.split("/")[4] : "";
  const bundleID = topic ? (suffix ? topic.slice(0, -suffix[0].length) : topic) : broadcastTo || "an app";
  return { bundleID, name: kind === "mdm" ? "Device management" : appNameOf(bundleID) };
}

function kindOf(request, suffix, aps) {
  const named = plain(request.push_type).toLowerCase();
  if (kinds[named]) return named;
  if (isBroadcast(request)) return "liveactivity";
  if (suffix) return suffix[1];
  const isSilent = aps["content-available"] === 1 && !("alert" in aps) && !("badge" in aps) && !("sound" in aps);
  return isSilent ? "background" : "alert";
}

// Returns at most `countMax` members as pairs of short texts.
function pairsOf(object, countMax) {
  if (!isObject(object)) return [];
  return Object.entries(object).slice(0, countMax).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [name, text.length > 120 ? `${text.slice(0, 119)}…` : text];
  });
}

function activityOf(request, aps) {
  return {
    event: activityEvents[plain(aps.event)] ?? "pushed",
    type: plain(aps["attributes-type"]),
    attributes: pairsOf(aps.attributes, 4),
    state: pairsOf(aps["content-state"], 6),
    channel: isBroadcast(request) ? addresseeOf(request) : null,
  };
}

export function describe(request) {
  const root = parse(request);
  const aps = isObject(root?.aps) ? root.aps : {};
  const topic = plain(request.topic);
  const suffix = suffixes.find(([text]) => topic.endsWith(text));
  const kind = kindOf(request, suffix, aps);
  const app = appOf(request, suffix, kind);
  const sound = soundOf(aps.sound ?? (isObject(aps.alert) ? aps.alert.sound : undefined));
  const thread = plain(aps["thread-id"]);
  const addressee = isBroadcast(request) ? addresseeOf(request) : deviceOf(request);
  const collapse = plain(request.collapse_id);
  const { onScreen = false, icon, effect = null } = kinds[kind];
  const { aps: _, ...others } = root ?? {};
  const level = sound?.isCritical ? "critical" : plain(aps["interruption-level"]);
  const isActivity = kind === "liveactivity";
  // A newer notification replaces an older one with the same identity.
  const identity = isActivity
    ? `activity ${app.bundleID} ${addressee}`
    : collapse && onScreen ? `collapse ${app.bundleID} ${addressee} ${collapse}` : `number ${request.number} ${request.unix_ms}`;
  return {
    request, kind, icon, effect, app, thread, identity, sound,
    isOnScreen: onScreen,
    isReadable: root !== null,
    stack: `${app.bundleID} ${kind} ${thread}`,
    title: textOf(aps.alert, "title", "title-loc-key", "title-loc-args"),
    subtitle: textOf(aps.alert, "subtitle", "subtitle-loc-key", "subtitle-loc-args"),
    body: textOf(aps.alert, "body", "loc-key", "loc-args"),
    badge: typeof aps.badge === "number" ? aps.badge : null,
    level: levels.includes(level) ? level : "active",
    custom: pairsOf(others, 4),
    activity: isActivity ? activityOf(request, aps) : null,
  };
}

// Returns a one-line summary of a request for lists.
export function summaryOf(request) {
  if (!isPush(request)) return `${request.method ?? ""} ${request.path ?? ""}`.trim();
  const { title, subtitle, body, effect, badge, sound, activity, isReadable } = describe(request);
  const texts = [title, subtitle, body].filter(Boolean).map((piece) => piece.text);
  if (activity) {
    const state = activity.state.map(([name, value]) => `${name} ${value}`);
    return [`Live Activity ${activity.event}`, ...texts, ...state].join(" · ");
  }
  if (texts.length > 0) return texts.join(" · ");
  if (effect) return effect;
  if (!isReadable) return request.payload_bytes ? "Payload is not a JSON object" : "No payload";
  if (badge !== null) return `Badge ${badge}`;
  return sound ? "Sound" : "Nothing to show";
}
