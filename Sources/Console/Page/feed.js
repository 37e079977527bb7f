// Receives the names of changed data by consecutive long polls, and retries after each error.

import { APIError, call } from "./api.js";

const waitSeconds = 25;
// Pause after a poll with changes. 200 workers change the data many times a second.
const restMilliseconds = 1000;
// Pause after a poll that does not wait.
const quietMilliseconds = 5000;
const pauseMillisecondsMin = 500;
const pauseMillisecondsMax = 8000;
const tooManyRequests = 429;

// `events` has the functions changed(names), reached() and gone(error, pauseMilliseconds).
export class Feed {
  constructor(events) {
    this.events = events;
    this.interruption = null;
  }

  start() {
    this.stop();
    this.interruption = new AbortController();
    this.run(this.interruption.signal);
  }

  stop() {
    this.interruption?.abort();
    this.interruption = null;
  }

  async run(signal) {
    let [sequence, failures, isBusy] = [0, 0, false];
    while (!signal.aborted) {
      // Browsers and the console limit the polls that wait at a time. Hidden tabs leave them to visible ones.
      const seconds = document.hidden || isBusy ? 0 : waitSeconds;
      let milliseconds = seconds > 0 ? restMilliseconds : quietMilliseconds;
      try {
        const answer = await call("GET", `/api/changes?after=${sequence}&wait_seconds=${seconds}`, undefined,
          { waitSeconds: seconds, signal });
        if (signal.aborted) return;
        // A restarted console begins with 1 again.
        sequence = answer.sequence < sequence ? 0 : answer.sequence;
        [failures, isBusy] = [0, false];
        this.events.reached();
        this.events.changed(answer.changed);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof APIError)) reportError(error);
        isBusy = error.status === tooManyRequests;
        if (!isBusy) {
          milliseconds = Math.min(pauseMillisecondsMin * 2 ** failures, pauseMillisecondsMax);
          failures += 1;
          this.events.gone(error, milliseconds);
        }
      }
      await new Promise((resume) => setTimeout(resume, milliseconds));
    }
  }
}
