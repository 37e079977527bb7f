// Formats of counts, rates and times.

export const formatCount = (count) => count.toLocaleString("en");

export function plural(count, one, many = `${one}s`) {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

// Returns the form of a word for a count.
export const agree = (count, one, many) => (count === 1 ? one : many);

// Returns a count, or a dash if the count is unknown.
export const countOrDash = (count) => (Number.isFinite(count) ? formatCount(count) : "–");

// Returns a rate with one digit after the point below 10.
export function formatRate(perSecond) {
  if (!Number.isFinite(perSecond)) return "–";
  const digits = perSecond > 0 && perSecond < 10 ? 1 : 0;
  if (digits === 1 && perSecond < 0.05) return "<0.1/s";
  return `${perSecond.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}/s`;
}

export const formatShare = (share) => (Number.isFinite(share)
  ? `${(100 * share).toLocaleString("en", { maximumFractionDigits: share < 0.1 ? 1 : 0 })} %` : "–");

const twoDigits = (number) => String(number).padStart(2, "0");

// Returns HH:MM:SS in the local time zone.
export function timeOfDay(milliseconds, { seconds = true, milli = false } = {}) {
  const date = new Date(milliseconds);
  const parts = [date.getHours(), date.getMinutes()].concat(seconds ? [date.getSeconds()] : []);
  return parts.map(twoDigits).join(":") + (milli ? `.${String(date.getMilliseconds()).padStart(3, "0")}` : "");
}

// Returns YYYY-MM-DD in the local time zone.
export function day(milliseconds) {
  const date = new Date(milliseconds);
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

// Returns the time of a moment of today, and the date and time of another day. A dash if the moment is unknown.
export function moment(milliseconds, { seconds = true } = {}) {
  if (!Number.isFinite(milliseconds)) return "–";
  const time = timeOfDay(milliseconds, { seconds });
  return day(milliseconds) === day(Date.now()) ? time : `${day(milliseconds)} ${time}`;
}

// Returns a duration with one unit from 10 on, otherwise with two: "41 min", "2 h 5 min".
export function duration(seconds) {
  const whole = Math.abs(Math.round(seconds));
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => whole >= size);
  if (first === -1) return "0 s";
  const [name, size] = units[first];
  const rest = units[first + 1];
  const count = Math.floor(whole / size);
  const more = rest && count < 10 ? Math.floor((whole % size) / rest[1]) : 0;
  return `${seconds < 0 ? "−" : ""}${count} ${name}${more ? ` ${more} ${rest[0]}` : ""}`;
}

// Joins names as "a, b and c".
export const listOf = (names) => (names.length < 2 ? names.join()
  : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

// Joins names as "a, b and 3 more".
export function someOf(names, shownMax = 3) {
  const shown = names.slice(0, shownMax);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${formatCount(more)} more` : shown.join(", ");
}
