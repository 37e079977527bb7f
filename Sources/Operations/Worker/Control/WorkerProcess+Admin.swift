import APNSProtocol
import AdminHTTP
import Delivery
import EventLoop
import Glibc
import Telemetry

/// What operators may ask of a worker and want of it.
extension WorkerProcess {
    /// How long lanes may take to say how they stand, or to pause.
    private static let answerMillisecondsMax = 1000

    var routes: WorkerRoutes {
        WorkerRoutes(
            status: { [self] in gatherStatus($0) }, stalledLanes: { [self] in group.stalled },
            metrics: { [self] status in
                status.write(to: metrics)
                return metrics.render()
            },
            pause: { [self] in pause($0, $1, $2) })
    }

    private func gatherStatus(_ answer: @escaping (WorkerStatus) -> Void) {
        let groups = [group] + leaving
        ask(
            groups.flatMap(\.asked), { $0.status($1) },
            then: { [self] said in
                // nil where a lane has not said it in time.
                var rest = said[...]
                let lanes = groups.map { group in
                    group.lanes.indices.map { index in
                        WorkerStatus.Lane(
                            number: index, isTurning: !group.stalled.contains(index), status: rest.popFirst() ?? nil)
                    }
                }
                let leaving = zip(groups, lanes).dropFirst().flatMap { group, lanes in
                    lanes.filter { !group.ended.contains($0.number) }
                }
                answer(status(lanes[0], leaving: leaving))
            })
    }

    private func status(_ lanes: [WorkerStatus.Lane], leaving: [WorkerStatus.Lane]) -> WorkerStatus {
        WorkerStatus(
            worker: group.components.lane.worker, version: MartletCommand.version, processID: Int(getpid()),
            uptimeSeconds: Int(startedAt.duration(to: loop.now.monotonic).components.seconds),
            phase: !life.isRunning ? .draining : group.isStarted ? .running : .starting, reasons: reasons,
            pauses: pauses.map(\.scope.description), pauseReports: pauses.map { $0.report(at: loop.now.monotonic) },
            lanes: lanes, leaving: leaving,
            certificates: certificateReport.certificates.map {
                WorkerStatus.Certificate(name: $0.name, notAfterSeconds: $0.contents.validSeconds.upperBound)
            },
            broker: group.components.brokerAccess.name, prefix: group.components.lane.names.prefix,
            queues: queueDepths?.latest ?? [],
            shardOf: group.components.lane.names.queueByShard, queuesSecondsOld: queueDepths?.secondsOld,
            channels: group.channels?.status,
            totals: WorkerTotals(metrics), inFlight: metrics.level(of: "martlet_inflight"),
            logLinesDropped: log.droppedCount, spansDropped: spans?.queue.droppedCount ?? 0)
    }

    /// Why no messages are taken.
    var reasons: [String] {
        guard group.isStarted else { return [topologyWait?.reason ?? "it has only begun"] }
        return group.stalled.map { "lane \($0) has stopped turning" } + group.readiness.reasons
    }

    /// Known to the lanes that run, and to those that have yet to start.
    ///
    /// - Parameter note: of a pause; nil resumes.
    private func pause(_ scope: PauseScope, _ note: PauseNote?, _ answer: @escaping (AdminResponse) -> Void) {
        guard group.components.lane.knows(scope) else {
            return answer(.error(404, "there is no \(scope) in the configuration"))
        }
        let isPaused = note != nil
        let former = pauses.first { $0.scope == scope }
        let isNews = (former != nil) != isPaused
        let since = loop.now.monotonic
        if isNews {
            pauses.removeAll { $0.scope == scope }
            if let note { pauses.append(Pause(scope: scope, note: note, since: since)) }
            log.info(isPaused ? .paused : .resumed, [.pauseScope: .describing(scope)])
        }
        // Those answer nobody that have yet to take their place.
        for lane in coming?.lanes ?? [] { lane.pause(scope, isPaused) { _ in } }
        ask(
            group.asked, { $0.pause(scope, isPaused, $1) },
            then: { (done: [Bool?]) in
                let verb = isPaused ? "paused" : "resumed"
                let isDone =
                    !self.group.isStarted
                    || done.indices.allSatisfy { done[$0] != nil || self.group.ended.contains($0) }
                guard isDone else {
                    return answer(.error(503, "\(scope) will be \(verb) as soon as lanes turn that do not now"))
                }
                let others = isPaused || self.pauses.isEmpty ? "" : "; still paused: \(self.pausesText)"
                let already = former.map { ", \($0.report(at: since).text)" } ?? ""
                answer(
                    .text(200, (isNews ? "\(verb) \(scope)" : "\(scope) was \(verb) already\(already)") + "\(others)\n")
                )
            })
    }

    private var pausesText: String { pauses.map(\.scope.description).joined(separator: ", ") }

    /// Asks lanes, and answers once all have said something or the time is up.
    ///
    /// - Parameter lanes: nil for those that do not turn: they would keep every question until they do.
    private func ask<Answer: Sendable>(
        _ lanes: [LaneThread?], _ question: (LaneThread, @escaping @Sendable (Answer) -> Void) -> Void,
        then answer: @escaping ([Answer?]) -> Void
    ) {
        let inquiry = LaneQuery<Answer>(lanes: lanes.count, asked: lanes.count { $0 != nil }, answer)
        guard lanes.contains(where: { $0 != nil }) else { return inquiry.end() }
        let timer = loop.schedule(after: .milliseconds(Self.answerMillisecondsMax)) { inquiry.end() }
        inquiry.onEnd = { [self] in loop.cancel(timer) }
        for case (let index, let lane?) in lanes.enumerated() {
            question(lane) { [self] said in loop.post { inquiry.said(said, by: index) } }
        }
    }
}

/// `@unchecked Sendable`: touched on the control loop's thread only.
private final class LaneQuery<Answer: Sendable>: @unchecked Sendable {
    private var answers: [Answer?]
    private var waiting: Int
    private var answer: (([Answer?]) -> Void)?
    var onEnd: () -> Void = {}

    init(lanes: Int, asked: Int, _ answer: @escaping ([Answer?]) -> Void) {
        answers = Array(repeating: nil, count: lanes)
        waiting = asked
        self.answer = answer
    }

    func said(_ said: Answer, by lane: Int) {
        guard answer != nil, answers[lane] == nil else { return }
        answers[lane] = said
        waiting -= 1
        if waiting == 0 { end() }
    }

    func end() {
        guard let answer = answer.take() else { return }
        onEnd()
        onEnd = {}
        answer(answers)
    }
}
