// A small chart of 24 hourly counts. Its description has the figures for screen readers.

import { makeSVG } from "./dom.js";
import { formatCount } from "./words.js";

const [barWidth, gap, height] = [4, 1, 20];

export function sparkline(hours) {
  const max = Math.max(...hours, 1);
  const total = hours.reduce((sum, count) => sum + count, 0);
  const width = hours.length * (barWidth + gap);
  return makeSVG("svg", {
    class: "sparkline", viewBox: `0 0 ${Math.max(width, 1)} ${height}`, role: "img",
    "aria-label": `${formatCount(total)} in ${hours.length} h, at most ${formatCount(max)} an hour`,
  }, hours.map((count, index) => {
    const size = count === 0 ? 1 : Math.max(2, Math.round((count / max) * height));
    return makeSVG("rect", {
      x: index * (barWidth + gap), y: height - size, width: barWidth, height: size, class: count === 0 ? "none" : null,
    });
  }));
}
