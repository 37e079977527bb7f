// Requests as they come: one long poll after the other, and what to do when nobody answers.

import { call } from "./api.js";

const waitSeconds = 25;
const pageMax = 200;
// What came longer ago than so many requests is passed over rather than read.
const backlogMax = 500;
const pauseMillisecondsMin = 500;
const pauseMillisecondsMax = 8000;

// `events`: requests(list, missed), restarted(), reached(), gone(message, pauseMilliseconds).
export class Feed {
  constructor(events) {
    this.events = events;
    this.newest = 0;
    this.isPaused = false;
    this.failures = 0;
    this.interruption = new AbortController();
  }

  async run() {
    for (;;) {
      try {
        await this.catchUp();
        while (!this.isPaused) await this.poll();
        await new Promise((resume) => {
          this.resume = resume;
        });
      } catch (error) {
        if (this.interruption.signal.aborted) {
          this.interruption = new AbortController();
          continue;
        }
        await this.wait(error);
      }
    }
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    if (!isPaused) this.resume?.();
    else this.interrupt();
  }

  // Looks anew at once, as after a reset.
  interrupt() {
    this.interruption.abort();
  }

  async poll() {
    const answer = await this.ask(waitSeconds);
    if (answer.newest < this.newest) return this.startAnew(answer);
    if (answer.newest - this.newest > backlogMax) return this.catchUp();
    this.take(answer.requests, 0);
  }

  // Reads from where it is, or from so near the newest as can be shown.
  async catchUp() {
    if (this.isPaused) return;
    const { newest } = await this.ask(0, 1);
    if (newest < this.newest) this.startAnew();
    const from = Math.max(this.newest, newest - backlogMax);
    let missed = from - this.newest;
    this.newest = from;
    while (this.newest < newest) {
      const { requests } = await this.ask(0);
      if (requests.length === 0) break;
      this.take(requests, missed);
      missed = 0;
    }
  }

  startAnew() {
    this.newest = 0;
    this.events.restarted();
  }

  take(requests, missed) {
    if (requests.length === 0) return;
    const first = requests[0].number;
    // Those in between are no longer kept.
    const lost = Math.max(first - this.newest - 1, 0);
    this.newest = requests.at(-1).number;
    this.events.requests(requests, missed + lost);
  }

  async ask(seconds, limit = pageMax) {
    const wait = seconds > 0 ? `&wait_seconds=${seconds}` : "";
    const answer = await call("GET", `/v1/requests?after=${this.newest}&limit=${limit}${wait}`, undefined, {
      waitSeconds: seconds, signal: this.interruption.signal,
    });
    this.failures = 0;
    this.events.reached();
    return answer;
  }

  wait(error) {
    const milliseconds = Math.min(pauseMillisecondsMin * 2 ** this.failures, pauseMillisecondsMax);
    this.failures += 1;
    this.events.gone(error.message, milliseconds);
    return new Promise((resume) => setTimeout(resume, milliseconds));
  }
}
