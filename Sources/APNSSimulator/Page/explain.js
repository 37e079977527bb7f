// Why a request was refused, as exactly as the request itself tells. Pure: a request of the admin API in, a sentence out.

import { isBroadcast, isPushType, topicSuffixOf } from "./notification.js";
import { meaningOf } from "./words.js";

const priorities = ["10", "5", "1"];

const header = (request, name) => request.headers.find((other) => other.name === name)?.value;

// null: no more is known than what the reason says.
const reasons = {
  __proto__: null,
  BadDeviceToken: (request) => (request.device_malformed
    ? "The device token is not an even number of hexadecimal digits."
    : `No device of the ${request.environment} has this token.`),
  BadExpirationDate: (request) => {
    const expiration = header(request, "apns-expiration");
    if (expiration === undefined) return "The expiration is missing.";
    if (!/^\d{1,18}$/.test(expiration)) return "The expiration is not a time.";
    return isBroadcast(request) ? "This channel stores nothing, and so allows only an expiration of 0." : null;
  },
  BadPriority: (request) => {
    const priority = header(request, "apns-priority");
    if (priority === undefined) return "The priority is missing.";
    return priorities.includes(priority)
      ? `A push of type ${request.push_type ?? "alert"} may not have priority ${priority}.`
      : "The priority is not one of 10, 5 and 1.";
  },
  InvalidPushType: (request) => {
    if (isBroadcast(request)) return "Broadcasts have the push type liveactivity.";
    return request.push_type && !isPushType(request.push_type) ? `There is no push type ${request.push_type}.` : null;
  },
  PayloadEmpty: (request) => {
    if (!request.payload_bytes) return "There is no payload.";
    return header(request, "content-encoding") === undefined
      ? "The payload is not a JSON object." : "The payload says that it is compressed.";
  },
  PayloadTooLarge: (request) => `The payload has ${request.payload_bytes} bytes, more than its kind may have.`,
  TooManyRequests: (request) => (isBroadcast(request)
    ? "There were too many broadcasts to this channel in a short time."
    : "There were too many pushes to this device in a short time."),
  TopicDisallowed: (request) => {
    const suffix = topicSuffixOf(request.push_type);
    return suffix !== null && !String(request.topic ?? "").endsWith(suffix)
      ? `The topic of a ${request.push_type} push ends with ${suffix}.`
      : "This key or certificate may not push to this topic.";
  },
};

// null where nobody knows. What a fault answers has nothing to do with the request.
export function explain(request) {
  const exact = request.fault || !request.headers ? null : reasons[request.reason]?.(request);
  return exact ?? meaningOf(request.reason);
}
