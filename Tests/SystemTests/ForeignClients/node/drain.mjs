// Pushes with Node's http2 while the server repeatedly sends GOAWAY.
//
// Open streams complete on the old connection, and new pushes use a new connection.
//
//     drain.mjs PORT AUTHORITY-FILE CERTIFICATE-FILE KEY-FILE COUNT     Print the outcomes as a JSON object.

import { readFileSync } from "node:fs";
import http2 from "node:http2";

const [port, authority, certificate, key, count] = process.argv.slice(2);
const openMax = 100;
const payload = '{"aps":{"alert":"Hi"}}';
const files = { ca: readFileSync(authority), cert: readFileSync(certificate), key: readFileSync(key) };

const counts = { accepted: 0, repeated: 0, lost: 0, connections: 0 };
let next = 0;
let open = 0;
let again = [];
let session = null;

function connect() {
  const made = http2.connect(`https://localhost:${port}`, files);
  counts.connections += 1;
  // After a GOAWAY, Node closes the session when the session's streams have ended.
  made.on("goaway", () => {
    if (session === made) session = null;
    fill();
  });
  made.on("error", () => {
    if (session === made) session = null;
  });
  made.on("close", () => {
    if (session === made) session = null;
    fill();
  });
  return made;
}

function push(number) {
  session ??= connect();
  open += 1;
  let status = 0;
  const stream = session.request({
    ":method": "POST", ":path": `/3/device/${number.toString(16).padStart(8, "0")}`, "apns-topic": "com.example.app",
  });
  stream.on("response", (headers) => {
    status = headers[":status"];
  });
  stream.on("error", () => {});
  stream.on("close", () => {
    open -= 1;
    if (status === 200) counts.accepted += 1;
    else if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) {
      counts.repeated += 1;
      again.push(number);
    } else counts.lost += 1;
    fill();
  });
  stream.resume();
  stream.end(payload);
}

function fill() {
  while (open < openMax && (again.length > 0 || next < count)) push(again.length > 0 ? again.pop() : next++);
  if (open > 0 || next < count) return;
  console.log(JSON.stringify(counts));
  process.exit(0);
}

fill();
