// Receives requests by consecutive long polls, and retries after each error.

import { call } from "./api.js";

const waitSeconds = 25;
// Maximum number of requests in one response. If more requests have arrived, the older ones are skipped.
const pageMax = 500;
// Pause after a poll with requests. The pause makes responses few and large during a load test.
const restMilliseconds = 200;
const pauseMillisecondsMin = 500;
const pauseMillisecondsMax = 8000;

// `events` has the functions requests(list, missed, dropped), restarted(), reached() and gone(error,
// pauseMilliseconds). The list may be empty after a start, a restart or a pause.
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
        if (!this.isPaused) await this.catchUp();
        while (!this.isPaused) await this.poll();
        await new Promise((resume) => {
          this.resume = resume;
        });
      } catch (error) {
        if (this.interruption.signal.aborted) this.interruption = new AbortController();
        else await this.wait(error);
      }
    }
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    if (isPaused) this.interruption.abort();
    else this.resume?.();
  }

  // Restarts from the newest requests immediately, after a reset of the simulator.
  restart() {
    this.newest = 0;
    this.events.restarted();
    this.interruption.abort();
  }

  // Fetches the newest requests, and skips older ones that were not read.
  async catchUp() {
    const answer = await this.fetchRequests(`limit=${pageMax}`);
    this.deliver(answer, answer.dropped);
  }

  async poll() {
    const answer = await this.fetchRequests(
      `after=${this.newest}&limit=${pageMax}&wait_seconds=${waitSeconds}&timeout=empty`, waitSeconds);
    if (answer.newest < this.newest) return this.restart();
    if (answer.newest - this.newest > pageMax) return this.catchUp();
    if (answer.requests.length === 0) return;
    this.deliver(answer);
    await pause(restMilliseconds);
  }

  // `dropped`: number of the newest request that is no longer kept; 0 if unknown.
  deliver({ requests, newest }, dropped = 0) {
    const fresh = requests.filter((request) => request.number > this.newest);
    const missed = this.newest === 0 || fresh.length === 0 ? 0 : fresh[0].number - this.newest - 1;
    this.newest = fresh.at(-1)?.number ?? newest;
    this.events.requests(fresh, missed, dropped);
  }

  async fetchRequests(query, seconds = 0) {
    const answer = await call("GET", `/v1/requests?${query}`, undefined, {
      waitSeconds: seconds, signal: this.interruption.signal,
    });
    this.failures = 0;
    this.events.reached();
    return answer;
  }

  wait(error) {
    const milliseconds = Math.min(pauseMillisecondsMin * 2 ** this.failures, pauseMillisecondsMax);
    this.failures += 1;
    this.events.gone(error, milliseconds);
    return pause(milliseconds);
  }
}

const pause = (milliseconds) => new Promise((resume) => setTimeout(resume, milliseconds));
