// Pushes with Node's http2 while the server sends GOAWAY again and again: lets what is open end, goes on elsewhere.
//
//     drain.mjs PORT AUTHORITY-FILE CERTIFICATE-FILE KEY-FILE COUNT     prints a JSON object of what became of them

import { readFileSync } from "node:fs";
import http2 from "node:http2";

const [port, authority, certificate, key, count] = process.argv.slice(2);
const openMax = 100;
const payload = '{"aps":{"alert":"Hi"}}';
const files = { ca: readFileSync(authority), cert: readFileSync(certificate), key: readFileSync(key) };

const told = { accepted: 0, repeated: 0, lost: 0, connections: 0 };
let next = 0;
let open = 0;
let again = [];
let session = null;

function connect() {
  const made = http2.connect(`https://localhost:${port}`, files);
  told.connections += 1;
  // Node closes the session by itself then, when its streams have ended.
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
    if (status === 200) told.accepted += 1;
    else if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) {
      told.repeated += 1;
      again.push(number);
    } else told.lost += 1;
    fill();
  });
  stream.resume();
  stream.end(payload);
}

function fill() {
  while (open < openMax && (again.length > 0 || next < count)) push(again.length > 0 ? again.pop() : next++);
  if (open > 0 || next < count) return;
  console.log(JSON.stringify(told));
  process.exit(0);
}

fill();
