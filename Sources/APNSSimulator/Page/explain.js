// Explanations of refusals, by a pure function from a request of the admin API to a sentence.

import { isBroadcast, isPushType, topicSuffixOf } from "./notification.js";
import { meaningOf } from "./words.js";

const priorities = ["10", "5", "1"];

const header = (request, name) => request.headers.find((other) => other.name === name)?.value;

// Sentences for the details of reasons with several possible causes.
const details = {
  __proto__: null,
  certificate_out_of_date: () => "The certificate is not valid yet, or has expired.",
  certificate_unknown: () => "The certificate is not registered, or is revoked.",
  channel_encoding: () => "The channel ID is not base64.",
  channel_length: () => "The channel ID is too long.",
  channel_of_other_app: () => "The channel belongs to another app.",
  channel_of_other_environment: () => "The app has the channel in the other environment.",
  channel_unknown: () => "The channel does not exist.",
  connection_of_other_key: () => meaningOf("UnrelatedKeyIdInToken"),
  connection_of_other_team: () => "The connection is bound to another team.",
  expiration_form: () => "The expiration is not a time.",
  expiration_milliseconds: () => "The expiration is in milliseconds.",
  expiration_missing: () => "The expiration is missing.",
  expiration_of_channel: () => "This channel stores nothing, so it allows only an expiration of 0.",
  expiration_past: () => "The expiration is in the past.",
  fault: () => "A fault sent this response.",
  key_environment: () => meaningOf("BadEnvironmentKeyIdInToken"),
  key_of_other_team: () => "The key belongs to another team than the provider token names.",
  key_revoked: () => "The key of the provider token is revoked.",
  key_unknown: () => "The key of the provider token is not registered.",
  location_by_certificate: () => "A location push requires a provider token, not a certificate.",
  payload_compressed: () => "The payload is declared as compressed.",
  payload_form: () => "The payload is not a JSON object.",
  payload_visible: () => "A background push may have no alert, badge or sound.",
  priority_of_type: (request) => `A push of type ${request.push_type} may not have priority ${request.priority}.`,
  token_algorithm: () => "The provider token's algorithm is not ES256.",
  token_form: () => "The provider token is not a JSON Web Token.",
  token_future: () => "The provider token is dated too far in the future.",
  token_issued_at: () => "The provider token has no time of issue in seconds (iat).",
  token_key_id: () => "The provider token names no key (kid).",
  token_signature: () => "The provider token's signature is wrong.",
  token_team: () => "The provider token names no team (iss).",
  topic_added_later: () => "The app of the topic was added after the connection was bound.",
  topic_of_certificate: () => "The certificate is for other topics.",
  topic_of_key: () => "The key is for other topics.",
  topic_of_other_team: () => "The app of the topic belongs to another team.",
  topic_suffix: (request) => {
    const suffix = topicSuffixOf(request.push_type);
    return isBroadcast(request) || suffix === null ? "The topic has the suffix of another push type."
      : `The topic of a ${request.push_type} push must end with ${suffix}.`;
  },
  topic_unknown: () => "The app of the topic is not registered.",
};

// Sentences that follow from the request itself; null if only the reason is known.
const reasons = {
  __proto__: null,
  BadDeviceToken: (request) => (request.device_malformed
    ? "The device token is not an even number of hexadecimal digits."
    : `No device in the ${request.environment} environment has this token.`),
  BadPriority: (request) =>
    (header(request, "apns-priority") === undefined ? "The priority is missing."
      : priorities.includes(header(request, "apns-priority")) ? null : "The priority is not 10, 5 or 1."),
  InvalidPushType: (request) => {
    if (isBroadcast(request)) return "Broadcasts require the push type liveactivity.";
    return request.push_type && !isPushType(request.push_type) ? `The push type ${request.push_type} does not exist.` : null;
  },
  PayloadTooLarge: (request) => `The payload has ${request.payload_bytes} bytes, which exceeds the limit.`,
  TooManyRequests: (request) => (isBroadcast(request)
    ? "There were too many broadcasts to this channel in a short time."
    : "There were too many pushes to this device in a short time."),
};

// Returns the explanation of a refusal; null for an unknown reason.
export function explain(request) {
  const exact = details[request.detail]?.(request) ?? (request.headers ? reasons[request.reason]?.(request) : null);
  return exact ?? meaningOf(request.reason);
}
