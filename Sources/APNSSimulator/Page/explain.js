// Why a request was refused, as exactly as the request itself tells. Pure: a request of the admin API in, a sentence out.

import { isBroadcast, topicSuffixOf } from "./notification.js";
import { meaningOf } from "./words.js";

const priorities = ["10", "5", "1"];

const header = (request, name) => request.headers?.find((other) => other.name === name)?.value;

// How many digits a token had: those that are shown, and those that `+8` stands for.
function isWellFormed(token) {
  const match = /^([0-9A-Fa-f]*)(?:…\+(\d+))?$/.exec(token ?? "");
  return match !== null && (match[1].length + Number(match[2] ?? 0)) % 2 === 0;
}

const reasons = {
  __proto__: null,
  BadDeviceToken: (request) => (isWellFormed(request.device_token)
    ? `There is no such device in the ${request.environment ?? "sandbox"}; its token may belong to the other environment.`
    : "The device token is not an even number of hexadecimal digits."),
  BadExpirationDate: (request) => (/^\d+$/.test(header(request, "apns-expiration") ?? "")
    ? "This channel stores nothing, and so allows only an expiration of 0."
    : header(request, "apns-expiration") === undefined ? "The expiration is missing." : "The expiration is not a time."),
  BadPriority: (request) => (priorities.includes(header(request, "apns-priority"))
    ? `A push of type ${request.push_type ?? "alert"} may not have priority ${request.priority}.`
    : header(request, "apns-priority") === undefined ? "The priority is missing." : "The priority is not one of 10, 5 and 1."),
  InvalidPushType: (request) => (isBroadcast(request)
    ? "Broadcasts have the push type liveactivity." : `There is no push type ${request.push_type ?? "of this name"}.`),
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

// null where nobody knows.
export const explain = (request) => reasons[request.reason]?.(request) ?? meaningOf(request.reason);
