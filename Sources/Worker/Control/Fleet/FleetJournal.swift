import AMQP
import ControlProtocol
import Crypto
import Delivery
import EventLoop
import Telemetry

/// The journal of a worker. It publishes the lines of its lanes in batches. Runs on the control loop.
///
/// While the broker is away or blocks the connection, the lines wait in the queue, which drops lines beyond its limit.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class FleetJournal: @unchecked Sendable {
    private let queue: JournalQueue
    private let loop: EventLoop
    /// The identity of the process in reports and batches.
    let bootID: UUIDValue
    private let counters: Counters
    private var schedule = JournalSchedule()
    /// The totals that the counters contain.
    private var counted = JournalSchedule.Totals()
    private var timer: TimerToken?
    /// The connection and the name of the worker; nil without a journal.
    private var connected: (link: FleetLink, worker: String)?
    /// The task that waits for the last batch.
    private var waiter: UnsafeContinuation<Void, Never>?

    private struct Counters {
        let published: Counter
        let dropped: Counter
        let unconfirmed: Counter

        init(_ registry: MetricsRegistry) {
            func counter(_ result: String) -> Counter {
                registry.counter(
                    "martlet_journal_lines_total", help: "Lines of the journal, by result.",
                    labels: ["result": result])
            }
            (published, dropped, unconfirmed) = (counter("published"), counter("dropped"), counter("unconfirmed"))
        }
    }

    init(in environment: LaneEnvironment) {
        (queue, loop) = (environment.journal, environment.loop)
        bootID = UUIDValue(randomOf: loop)
        counters = Counters(environment.metrics)
    }

    /// Begins the journal, or continues it over another connection.
    func connect(_ link: FleetLink, worker: String) {
        connected = (link, worker)
        queue.notify { [self] in loop.post { self.handle(.linesAdded) } }
        handle(.started)
        // The queue may contain lines that waited for the connection.
        handle(.linesAdded)
    }

    /// Publishes the remaining lines and the last batch, and ends the journal. Returns once the broker has them, a
    /// publish has failed, or the connection is unavailable.
    func end() async {
        guard let link = connected?.link else { return }
        await withUnsafeContinuation { continuation in
            waiter = continuation
            handle(.drained)
        }
        // A new configuration may have begun the journal again.
        guard connected?.link === link else { return }
        queue.notify(nil)
        connected = nil
    }

    /// Publishes batches at a shorter interval for a time.
    func commanded(seconds: Int) { handle(.commanded(seconds: seconds)) }

    /// The state of the journal; nil if the worker writes none.
    var status: WorkerStatus.Journal? {
        guard connected != nil else { return nil }
        let totals = schedule.totals
        return WorkerStatus.Journal(
            sequence: schedule.sequence, linesPublished: totals.published, linesDropped: totals.dropped,
            linesUnconfirmed: totals.unconfirmed)
    }

    private func handle(_ event: JournalSchedule.Event) {
        let isReady = connected?.link.isReady ?? false
        let actions = schedule.handle(event, queue.amounts(), isReady: isReady, now: loop.now.monotonic)
        count()
        for action in actions {
            switch action {
            case .setTimer(let time):
                if let timer { loop.cancel(timer) }
                timer = time.map {
                    loop.schedule(at: $0) { [self] in
                        timer = nil
                        handle(.timerFired)
                    }
                }
            case .publish(let sequence, let dropped, let isLast): publish(sequence, dropped: dropped, isLast: isLast)
            case .ended: waiter.take()?.resume()
            }
        }
    }

    private func publish(_ sequence: Int, dropped: Int, isLast: Bool) {
        guard let (link, worker) = connected else { return handle(.failed(lines: 0)) }
        let chunk = isLast ? nil : queue.takeChunk()
        let head = JournalHead(
            worker: worker, bootID: bootID, sequence: sequence, sentAt: loop.now.unixMilliseconds,
            droppedLines: dropped, hasEnded: isLast)
        let (body, lines) = (head.json(lines: chunk?.lines ?? []), chunk?.lineCount ?? 0)
        link.publish(body, type: JournalBatch.type, key: "journal.\(worker)", isMandatory: true) { [self] in
            switch $0 {
            case .confirmed: handle(.published(lines: lines))
            case .unknown: handle(.unconfirmed(lines: lines))
            case .returned, .nacked, .notSent, .refused: handle(.failed(lines: lines))
            }
        }
    }

    private func count() {
        let totals = schedule.totals
        counters.published.add(totals.published - counted.published)
        counters.dropped.add(totals.dropped - counted.dropped)
        counters.unconfirmed.add(totals.unconfirmed - counted.unconfirmed)
        counted = totals
    }
}
