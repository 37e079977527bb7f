// Requests as they come: one long poll after the other, and what to do when nobody answers.

import { call } from "./api.js";

const waitSeconds = 25;
// Asked for at once, and what came longer ago than so many is passed over.
const pageMax = 500;
// Between two polls that had something to tell, so that a load test's requests come in few and large pieces.
const restMilliseconds = 200;
const pauseMillisecondsMin = 500;
const pauseMillisecondsMax = 8000;

// `events`: requests(list, missed, dropped), startedAnew(), reached(), gone(error, pauseMilliseconds). The list is empty
// where it looked anew and found none.
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

  // Forgets where it was, as the simulator has, and looks anew at once.
  startAnew() {
    this.newest = 0;
    this.events.startedAnew();
    this.interruption.abort();
  }

  // The newest that there are, behind those that were read before.
  async catchUp() {
    const answer = await this.ask(`limit=${pageMax}`);
    this.take(answer, answer.dropped);
  }

  async poll() {
    const answer = await this.ask(
      `after=${this.newest}&limit=${pageMax}&wait_seconds=${waitSeconds}&timeout=empty`, waitSeconds);
    if (answer.newest < this.newest) return this.startAnew();
    if (answer.newest - this.newest > pageMax) return this.catchUp();
    if (answer.requests.length === 0) return;
    this.take(answer);
    await pause(restMilliseconds);
  }

  // `dropped`: the newest that is no longer kept; 0 where the answer does not tell.
  take({ requests, newest }, dropped = 0) {
    const fresh = requests.filter((request) => request.number > this.newest);
    const missed = this.newest === 0 || fresh.length === 0 ? 0 : fresh[0].number - this.newest - 1;
    this.newest = fresh.at(-1)?.number ?? newest;
    this.events.requests(fresh, missed, dropped);
  }

  async ask(query, seconds = 0) {
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
