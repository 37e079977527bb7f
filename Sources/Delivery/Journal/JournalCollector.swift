import AMQP
import EventLoop

/// The writer of a lane's journal. It passes lines to `onLines` in batches, soon after the first line, when many lines
/// wait, and at the end of a drain.
///
/// Loop-bound.
final class JournalCollector {
    /// The maximum time for which a line waits in the lane.
    static let delayMilliseconds: Int64 = 500
    /// The size of the waiting lines at which all of them are passed on immediately.
    private static let fullBytes = 64 << 10

    private let loop: EventLoop
    private let apps: AppDirectory
    private let samplesDeadLetters: Bool
    private let onLines: @Sendable (JournalBuffer) -> Void
    private var buffer = JournalBuffer()
    private var accepted: ShareSampler
    private var samples: SampleLimit
    private var timer: TimerToken?

    /// Creates the writer. Returns nil if the lane writes no journal.
    init?(_ context: LaneContext) {
        let configuration = context.configuration
        guard let settings = configuration.journal, let onLines = context.onJournal else { return nil }
        (loop, apps, self.onLines) = (context.loop, configuration.apps, onLines)
        samplesDeadLetters = settings.samplesDeadLetters
        accepted = ShareSampler(share: settings.acceptedShare)
        samples = SampleLimit(lane: configuration.number, laneCount: configuration.laneCount)
    }

    /// Records a message of a settlement when it is first published. If the worker then stops without the confirm, the
    /// request is delivered again, and may have further lines.
    func record(_ message: OutgoingMessage, of settlement: borrowing Settlement, _ record: DeliveryRecord) {
        switch (settlement.plan.first, settlement.verdict) {
        case (.result, let verdict):
            guard !verdict.isAccepted || accepted.selectsNext() else { return }
            add("result", message.content)
        case (.wait, .wait(let wait)):
            guard record.beginsWait(wait), let line = record.waitLine(wait, queue: message.exchange, apps) else {
                return
            }
            add("wait", line[...])
        case (.deadLetter, .conclude(let finalOutcome)):
            guard samplesDeadLetters, let reason = finalOutcome.deadLetter else { return }
            let app = record.bundleID(apps)
            let kind = SampleLimit.Kind(
                deadClass: reason.deadClass, code: reason.code, app: app, path: reason.path)
            guard samples.admit(kind, loop.now.monotonic) else { return }
            add("dead", record.sampleLine(reason, app: app, message)[...])
        default: break
        }
    }

    private func add(_ word: StaticString, _ object: ArraySlice<UInt8>) {
        buffer.add(word, object)
        guard buffer.byteCount < Self.fullBytes else { return flush() }
        if timer == nil {
            timer = loop.schedule(after: .milliseconds(Self.delayMilliseconds)) { [self] in
                timer = nil
                flush()
            }
        }
    }

    /// Passes all lines on.
    func flush() {
        if let timer = timer.take() { loop.cancel(timer) }
        let lines = buffer.take()
        if !lines.isEmpty { onLines(lines) }
    }
}
