// What the reasons of APNs mean, for people; after Apple's tables and the field's experience.

const keyOfOtherEnvironment = "The key of the provider token is for the other environment.";
const unavailable = "APNs is unavailable.";

const meanings = {
  __proto__: null,
  BadCertificate: "The certificate is not valid.",
  BadCertificateEnvironment: "The certificate is for the other environment.",
  BadChannelId: "The channel ID does not have the form of one.",
  BadCollapseId: "The collapse ID is longer than 64 bytes.",
  BadDeviceToken: "The device token is not good here.",
  BadEnvironmentKeyIdInToken: keyOfOtherEnvironment,
  BadEnvironmentKeyInToken: keyOfOtherEnvironment,
  BadExpirationDate: "The expiration is not good here.",
  BadMessageId: "The id is not a UUID.",
  BadPath: "There is nothing at this path.",
  BadPriority: "The priority is not good here.",
  BadRequestParams: "The JSON has a member that is not known here.",
  BadRequestPayload: "The JSON cannot be read.",
  BadTopic: "The topic does not have the form of one.",
  CannotCreateChannelConfig: "The app has as many channels as it may have.",
  ChannelNotRegistered: "The app has no such channel here.",
  DeviceTokenNotForTopic: "The device token belongs to another app.",
  DuplicateHeaders: "A header is there twice.",
  ExpiredProviderToken: "The provider token is too old.",
  ExpiredToken: "The device token has expired.",
  FeatureNotEnabled: "Broadcasts are not enabled for this app.",
  Forbidden: "This is not allowed.",
  IdleTimeout: "The connection was idle for too long.",
  InternalServerError: "APNs failed.",
  InvalidProviderToken: "The provider token is not valid.",
  InvalidPushType: "There is no such push type here.",
  MethodNotAllowed: "The method is not allowed here.",
  MissingChannelId: "There is no channel ID.",
  MissingChannelQueueSize: "The storage policy is missing.",
  MissingDeviceToken: "The path has no device token.",
  MissingProviderToken: "There is neither a provider token nor a client certificate.",
  MissingPushType: "There is no push type.",
  MissingTopic: "There is no topic.",
  PayloadEmpty: "There is no payload.",
  PayloadTooLarge: "The payload is larger than its limit.",
  ServiceUnavailable: unavailable,
  "Service Unavailable": unavailable,
  Shutdown: "This server of APNs is going down.",
  TooManyProviderTokenUpdates: "The connection came with new provider tokens too often.",
  TooManyRequests: "There were too many pushes in a short time.",
  TopicDisallowed: "The topic is not allowed here.",
  TopicMismatch: "The app is not allowed here.",
  UnrelatedKeyIdInToken: "The connection is bound to another key.",
  Unregistered: "The app is no longer on the device.",
};

export const reasons = Object.keys(meanings);

export const meaningOf = (reason) => meanings[reason] ?? null;

const statuses = {
  __proto__: null,
  200: "OK", 201: "Created", 204: "No Content", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
  405: "Method Not Allowed", 410: "Gone", 413: "Payload Too Large", 429: "Too Many Requests",
  500: "Internal Server Error", 503: "Service Unavailable",
};

export const statusText = (status) => (statuses[status] ? `${status} ${statuses[status]}` : String(status));

export function plural(count, one, many = `${one}s`) {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

export const formatCount = (count) => count.toLocaleString("en");

// HH:MM:SS of this machine's zone.
export function timeOfDay(milliseconds, { seconds = true } = {}) {
  const date = new Date(milliseconds);
  const parts = [date.getHours(), date.getMinutes()].concat(seconds ? [date.getSeconds()] : []);
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

export function duration(seconds) {
  const sign = seconds < 0 ? "−" : "";
  const whole = Math.abs(Math.round(seconds));
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => whole >= size);
  if (first === -1) return "0 s";
  const [name, size] = units[first];
  const rest = units[first + 1];
  const more = rest ? Math.floor((whole % size) / rest[1]) : 0;
  return `${sign}${Math.floor(whole / size)} ${name}${more ? ` ${more} ${rest[0]}` : ""}`;
}

// A text as a shell takes it for one word.
export const shellWord = (text) => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
