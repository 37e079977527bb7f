// Why a request was refused, as exactly as the simulator tells. Pure: a request of the admin API in, a sentence out.

import { isBroadcast, isPushType, topicSuffixOf } from "./notification.js";
import { meaningOf } from "./words.js";

const priorities = ["10", "5", "1"];

const header = (request, name) => request.headers.find((other) => other.name === name)?.value;

// What the simulator says where a reason can mean several things.
const details = {
  __proto__: null,
  certificate_out_of_date: () => "The certificate is not good at this time.",
  certificate_unknown: () => "The certificate is not registered here.",
  channel_encoding: () => "The channel ID is not base64.",
  channel_length: () => "The channel ID is too long.",
  channel_of_other_app: () => "The channel is another app's.",
  channel_of_other_environment: () => "The channel is in the other environment.",
  channel_unknown: () => "There is no such channel.",
  connection_of_other_key: () => meaningOf("UnrelatedKeyIdInToken"),
  connection_of_other_team: () => "The connection is bound to another team.",
  expiration_form: () => "The expiration is not a time.",
  expiration_milliseconds: () => "The expiration is in milliseconds.",
  expiration_missing: () => "The expiration is missing.",
  expiration_of_channel: () => "This channel stores nothing, and so allows only an expiration of 0.",
  expiration_past: () => "The expiration is in the past.",
  fault: () => "A fault answered so.",
  key_environment: () => meaningOf("BadEnvironmentKeyIdInToken"),
  key_of_other_team: () => "The key of the provider token is another team's.",
  key_revoked: () => "The key of the provider token is revoked.",
  key_unknown: () => "The key of the provider token is not registered here.",
  location_by_certificate: () => "A location push wants a provider token, not a certificate.",
  payload_compressed: () => "The payload says that it is compressed.",
  payload_form: () => "The payload is not a JSON object.",
  payload_visible: () => "A background push may have no alert, badge or sound.",
  priority_of_type: (request) => `A push of type ${request.push_type} may not have priority ${request.priority}.`,
  token_algorithm: () => "The provider token's algorithm is not ES256.",
  token_form: () => "The provider token is no JSON Web Token.",
  token_future: () => "The provider token is from the future.",
  token_issued_at: () => "The provider token does not say when it was made (iat), in seconds.",
  token_key_id: () => "The provider token names no key (kid).",
  token_signature: () => "The provider token's signature is wrong.",
  token_team: () => "The provider token names no team (iss).",
  topic_added_later: () => "The topic's app was added after the connection was bound.",
  topic_of_certificate: () => "The certificate does not have this topic.",
  topic_of_key: () => "The key does not have this topic.",
  topic_of_other_team: () => "The topic's app is another team's.",
  topic_suffix: (request) => {
    const suffix = topicSuffixOf(request.push_type);
    return isBroadcast(request) || suffix === null ? "The topic has the suffix of another push type."
      : `The topic of a ${request.push_type} push ends with ${suffix}.`;
  },
  topic_unknown: () => "The topic's app is not registered here.",
};

// Where the request itself tells. null: no more is known than what the reason says.
const reasons = {
  __proto__: null,
  BadDeviceToken: (request) => (request.device_malformed
    ? "The device token is not an even number of hexadecimal digits."
    : `No device of the ${request.environment} has this token.`),
  BadPriority: (request) =>
    (header(request, "apns-priority") === undefined ? "The priority is missing."
      : priorities.includes(header(request, "apns-priority")) ? null : "The priority is not one of 10, 5 and 1."),
  InvalidPushType: (request) => {
    if (isBroadcast(request)) return "Broadcasts have the push type liveactivity.";
    return request.push_type && !isPushType(request.push_type) ? `There is no push type ${request.push_type}.` : null;
  },
  PayloadTooLarge: (request) => `The payload has ${request.payload_bytes} bytes, more than its kind may have.`,
  TooManyRequests: (request) => (isBroadcast(request)
    ? "There were too many broadcasts to this channel in a short time."
    : "There were too many pushes to this device in a short time."),
};

// null where nobody knows.
export function explain(request) {
  const exact = details[request.detail]?.(request) ?? (request.headers ? reasons[request.reason]?.(request) : null);
  return exact ?? meaningOf(request.reason);
}
