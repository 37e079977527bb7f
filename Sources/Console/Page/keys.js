// The page Keys: the keys and certificates of the workers.

import { call } from "./api.js";
import { make } from "./dom.js";
import { button, heading, mark, nothing } from "./parts.js";
import { isPaused, pause, probe, resume } from "./pauses.js";
import { offers } from "./session.js";
import { table } from "./table.js";
import { countOrDash, day, duration } from "./words.js";

const expiresSoonSeconds = 30 * 86400;

export const page = {
  name: "keys", title: "Keys", uses: ["fleet", "pauses"],
  async load() {
    const [credentials, causes] = await Promise.all(["/api/credentials", "/api/causes"].map((path) =>
      call("GET", path, undefined, { keeps: true })));
    return { ...credentials, causes: causes.causes ?? [], pauses: causes.pauses ?? [] };
  },
  draw(data) {
    const [keys, certificates] = [data.keys ?? [], data.certificates ?? []];
    if (keys.length + certificates.length === 0) {
      return [heading("Keys"), nothing("No key or certificate is reported",
        "Workers report the certificates and data keys of their configuration.",
        make("a", { href: "#/workers" }, "See the workers"))];
    }
    const dataKeys = keys.filter(({ kind }) => kind === "registrations");
    const providerKeys = keys.filter(({ kind }) => kind !== "registrations");
    return [
      heading("Keys"),
      section("Keys", providerKeys, keyColumns(data), scopeOfKey),
      section("Certificates", certificates, certificateColumns(data), scopeOfCertificate),
      section("Data keys of registrations", dataKeys, dataKeyColumns, (key) => `${key.id} ${key.fingerprint}`),
    ];
  },
};

const section = (title, rows, columns, keyOf) => rows.length > 0
  && make("div", { class: "part", key: title }, make("h3", {}, title), table(title, columns, rows, keyOf));

const scopeOfKey = (key) => `key ${key.key_id}`;
const scopeOfCertificate = (certificate) => `certificate ${certificate.name}`;

const workersColumn = {
  name: "Workers", isNumber: true, sort: (row) => row.workers, cell: (row) => countOrDash(row.workers),
};

const keyColumns = (data) => [
  { name: "Key", sort: (key) => key.key_id, cell: (key) => make("code", {}, key.key_id) },
  { name: "Team", sort: (key) => key.team_id, cell: (key) => key.team_id ?? "–" },
  { name: "State", cell: (key) => state(data, scopeOfKey(key)) },
  workersColumn, ...actionColumns(data, scopeOfKey),
];

const certificateColumns = (data) => [
  { name: "Certificate", sort: (certificate) => certificate.name, cell: (certificate) => certificate.name },
  { name: "Expires", sort: (certificate) => certificate.not_after_unix_seconds, cell: expiry },
  { name: "State", cell: (certificate) => (secondsLeft(certificate) <= 0 ? mark("bad", "expired")
    : state(data, scopeOfCertificate(certificate))) },
  workersColumn, ...actionColumns(data, scopeOfCertificate),
];

const dataKeyColumns = [
  { name: "Data key", sort: (key) => key.id, cell: (key) => String(key.id) },
  { name: "Fingerprint", cell: (key) => make("code", {}, key.fingerprint) },
  { name: "State", cell: (key) => (key.active ? mark("good", "encrypts") : mark("silent", "decrypts only")) },
  workersColumn,
];

const secondsLeft = (certificate) => certificate.not_after_unix_seconds - Date.now() / 1000;

function expiry(certificate) {
  const left = secondsLeft(certificate);
  if (!Number.isFinite(left)) return "–";
  const date = day(certificate.not_after_unix_seconds * 1000);
  if (left <= 0) return date;
  const text = `${date}, in ${duration(left)}`;
  return left < expiresSoonSeconds ? mark("warn", text) : text;
}

function state({ causes, pauses }, scope) {
  if (isPaused(pauses, scope)) return mark("paused", "paused");
  const cause = causes.find((other) => other.scope === scope);
  return cause ? mark("bad", cause.code) : mark("good", "ok");
}

const actionColumns = (data, scopeOf) => (offers("pause") ? [{
  name: "Actions", cell: (row) => make("span", { class: "buttons" }, actionsOf(data, scopeOf(row))),
}] : []);

const small = { class: "small" };

const actionsOf = ({ causes, pauses }, scope) => [
  isPaused(pauses, scope) ? button("Resume…", () => resume(scope), { ...small, "aria-label": `Resume ${scope}` })
    : button("Pause…", () => pause(scope), { ...small, "aria-label": `Pause ${scope}` }),
  offers("probe") && causes.some((cause) => cause.scope === scope)
    && button("Probe…", () => probe(scope), { ...small, "aria-label": `Probe ${scope}` }),
];
