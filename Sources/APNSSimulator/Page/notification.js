// What a device would make of a request that APNs accepted. Pure: a request of the admin API in, a description out.
// Nothing in a payload can be relied on: every value may be of any type.

// What each push type is to the person who holds the device. `onScreen` says whether the system shows anything.
const kinds = {
  __proto__: null,
  alert: { icon: "bell", onScreen: true },
  liveactivity: { icon: "live", onScreen: true },
  voip: { icon: "call", onScreen: true, says: "Incoming call" },
  pushtotalk: { icon: "talk", onScreen: true, says: "Push to talk" },
  background: { icon: "gear", says: "Wakes the app in the background" },
  complication: { icon: "clock", says: "Brings the complication up to date" },
  controls: { icon: "grid", says: "Reloads the controls" },
  fileprovider: { icon: "folder", says: "Files have changed" },
  location: { icon: "place", says: "Asks where the device is" },
  mdm: { icon: "shield", says: "Has the device call its management server" },
  widgets: { icon: "grid", says: "Reloads the widgets" },
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

// What the topic of a push type ends with; null where it has no suffix, or nobody knows the type.
export const topicSuffixOf = (pushType) => suffixes.find(([, kind]) => kind === pushType)?.[0] ?? null;

export const isPushType = (word) => word in kinds;

const levels = ["passive", "active", "time-sensitive", "critical"];

export function isBroadcast(request) {
  return typeof request.path === "string" && request.path.startsWith("/4/broadcasts/");
}

export function isPush(request) {
  return isBroadcast(request) || (typeof request.path === "string" && request.path.startsWith("/3/device/"));
}

// A device or a channel: whom the push was for.
export function addresseeOf(request) {
  if (isBroadcast(request)) return request.channel_id ?? "";
  return request.device_token ?? "";
}

// What tells two devices apart whose tokens read the same when shortened.
export const deviceOf = (request) => plain(request.device);

// A name for each of those addressed: their short tokens, told apart where two read the same.
export function namesOf(addressees) {
  const tokens = [...addressees.values()];
  const isShared = (token) => tokens.indexOf(token) !== tokens.lastIndexOf(token);
  return [...addressees].map(([key, token]) => [key, isShared(token) ? `${token} (${key.slice(0, 4)})` : token]);
}

// The log keeps no more of a payload than any kind may have.
const payloadBytesKept = 5120;

// How many bytes of its payload are kept; null where all are.
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

// The text of a key, or the name under which the app keeps it, with what goes into its gaps.
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

// The parts of a bundle ID that name no app.
const unspecific = new Set(["app", "apps", "ios", "iphone", "mobile", "client", "dev", "debug", "beta", "staging"]);

// A name for the app, which only the device knows: out of the bundle ID.
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

// At most `countMax` members as pairs of short texts.
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
  const suffix = suffixes.find(([ending]) => topic.endsWith(ending));
  const kind = kindOf(request, suffix, aps);
  const app = appOf(request, suffix, kind);
  const sound = soundOf(aps.sound ?? (isObject(aps.alert) ? aps.alert.sound : undefined));
  const thread = plain(aps["thread-id"]);
  const addressee = isBroadcast(request) ? addresseeOf(request) : deviceOf(request);
  const collapse = plain(request.collapse_id);
  const { onScreen = false, icon, says = null } = kinds[kind];
  const { aps: _, ...others } = root ?? {};
  const level = sound?.isCritical ? "critical" : plain(aps["interruption-level"]);
  const isActivity = kind === "liveactivity";
  // The newer of two with one identity takes the place of the older.
  const identity = isActivity
    ? `activity ${app.bundleID} ${addressee}`
    : collapse && onScreen ? `collapse ${app.bundleID} ${addressee} ${collapse}` : `number ${request.number} ${request.unix_ms}`;
  return {
    request, kind, icon, says, app, thread, identity, sound,
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

// One line that says what a request is about; for lists.
export function summaryOf(request) {
  if (!isPush(request)) return `${request.method ?? ""} ${request.path ?? ""}`.trim();
  const { title, subtitle, body, says, badge, sound, activity, isReadable } = describe(request);
  const texts = [title, subtitle, body].filter(Boolean).map((piece) => piece.text);
  if (activity) {
    const state = activity.state.map(([name, value]) => `${name} ${value}`);
    return [`Live Activity ${activity.event}`, ...texts, ...state].join(" · ");
  }
  if (texts.length > 0) return texts.join(" · ");
  if (says) return says;
  if (!isReadable) return request.payload_bytes ? "A payload that is no JSON object" : "No payload";
  if (badge !== null) return `Badge ${badge}`;
  return sound ? "A sound" : "Nothing to show";
}
