// Whether new elements are animated. New elements are not animated while requests arrive so fast that the page would
// flicker.

const calmMillisecondsMin = 1000;

let latest = -Infinity;
let isCalm = true;

// Records that requests arrived.
export function record() {
  const now = performance.now();
  isCalm = now - latest >= calmMillisecondsMin;
  latest = now;
}

// Returns the class for a new element.
export const arrivalClass = () => (isCalm ? "arriving" : "");
