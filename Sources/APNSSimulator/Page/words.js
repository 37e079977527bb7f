// Explanations of APNs' reasons, from Apple's tables and from practice, and the formats of counts and times.

const keyOfOtherEnvironment = "The key of the provider token is for the other environment.";
const unavailable = "APNs is unavailable.";

const meanings = {
  __proto__: null,
  BadCertificate: "The certificate is not valid.",
  BadCertificateEnvironment: "The certificate is for the other environment.",
  BadChannelId: "The channel ID is malformed.",
  BadCollapseId: "The collapse ID is longer than 64 bytes.",
  BadDeviceToken: "The device token is not valid in this environment.",
  BadEnvironmentKeyIdInToken: keyOfOtherEnvironment,
  BadEnvironmentKeyInToken: keyOfOtherEnvironment,
  BadExpirationDate: "The expiration is not valid.",
  BadMessageId: "The ID is not a UUID.",
  BadPath: "The path does not exist.",
  BadPriority: "The priority is not valid.",
  BadRequestParams: "The JSON has an unknown member.",
  BadRequestPayload: "The JSON is malformed.",
  BadTopic: "The topic is malformed.",
  CannotCreateChannelConfig: "The app has reached its limit of channels.",
  ChannelNotRegistered: "The app does not have this channel.",
  DeviceTokenNotForTopic: "The device token belongs to another app.",
  DuplicateHeaders: "A header occurs twice.",
  ExpiredProviderToken: "The provider token is too old.",
  ExpiredToken: "The device token has expired.",
  FeatureNotEnabled: "Broadcasts are not enabled for this app.",
  Forbidden: "The request is not allowed.",
  IdleTimeout: "The connection was idle for too long.",
  InternalServerError: "APNs failed.",
  InvalidProviderToken: "The provider token is not valid.",
  InvalidPushType: "The push type is not valid.",
  MethodNotAllowed: "The path does not allow this method.",
  MissingChannelId: "The channel ID is missing.",
  MissingChannelQueueSize: "The storage policy is missing.",
  MissingDeviceToken: "The path has no device token.",
  MissingProviderToken: "The request has neither a provider token nor a client certificate.",
  MissingPushType: "The push type is missing.",
  MissingTopic: "The topic is missing.",
  PayloadEmpty: "The payload is empty.",
  PayloadTooLarge: "The payload exceeds its limit.",
  ServiceUnavailable: unavailable,
  "Service Unavailable": unavailable,
  Shutdown: "This server of APNs is shutting down.",
  TooManyProviderTokenUpdates: "The connection used new provider tokens too often.",
  TooManyRequests: "There were too many pushes in a short time.",
  TopicDisallowed: "The topic is not allowed.",
  TopicMismatch: "The provider may not use this app.",
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

// Returns HH:MM:SS in the local time zone.
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

// Quotes a text as one word for the shell.
export const shellWord = (text) => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
