// Whether what arrives moves into its place: not where requests come so fast that the page would flicker.

const calmMillisecondsMin = 1000;

let latest = -Infinity;
let isCalm = true;

// Requests came.
export function note() {
  const now = performance.now();
  isCalm = now - latest >= calmMillisecondsMin;
  latest = now;
}

// For a new element.
export const arrivalClass = () => (isCalm ? "arriving" : "");
