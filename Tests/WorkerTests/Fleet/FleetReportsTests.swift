import ControlProtocol
import EventLoop
import Testing

@testable import Configuration
@testable import Worker

/// The reports of a worker, on virtual time.
@Suite struct FleetReportsTests {
    /// A worker whose status a test changes, and its reports.
    private final class Reporter {
        struct Report: Equatable {
            /// Milliseconds since the start.
            let at: Int64
            let phase: WorkerStatus.Phase
            var hasEnded = false
        }

        let loop = VirtualLoop(seed: 3)
        var status = WorkerStatus(worker: "w1")
        private(set) var published: [Report] = []
        /// Whether the broker confirms a report.
        var confirms = true
        private var unconfirmed: (() -> Void)?
        private let start: MonotonicTime
        private(set) var reports: FleetReports!
        private(set) var hasEnded = false

        init() {
            start = loop.now.monotonic
            status.phase = .running
            loop.enter {
                reports = FleetReports(WorkerConfiguration.Fleet(), on: loop) { [unowned self] answer in
                    // Lanes answer later.
                    let status = status
                    loop.schedule(after: .milliseconds(5)) {
                        answer(WorkerSnapshot(status: status, lanes: [], retired: []))
                    }
                } publish: { [unowned self] status, hasEnded, completion in
                    let time = start.duration(to: loop.now.monotonic) / .milliseconds(1)
                    published.append(Report(at: Int64(time), phase: status.phase, hasEnded: hasEnded))
                    if confirms { completion() } else { unconfirmed = completion }
                }
                reports.start()
            }
        }

        func pass(milliseconds: Int) {
            var isOver = false
            loop.enter { _ = loop.schedule(after: .milliseconds(milliseconds)) { isOver = true } }
            #expect(loop.run(limit: .milliseconds(milliseconds + 1)) { isOver } == .done)
        }

        /// Confirms the last report.
        func confirm() {
            loop.enter { unconfirmed?() }
            pass(milliseconds: 1)
        }

        /// Publishes the last report, and waits for its confirm.
        func end() {
            loop.enter {
                nonisolated(unsafe) let reporter = self
                _ = Task(executorPreference: loop) {
                    await reporter.reports.end()
                    reporter.hasEnded = true
                }
            }
        }
    }

    @Test func aWorkerReportsAtItsStartAndThenAtTheInterval() {
        let worker = Reporter()
        worker.pass(milliseconds: 60_000)
        let times = worker.published.map(\.at)
        #expect(times.first == 5 && (6...8).contains(times.count))
        for (former, next) in zip(times, times.dropFirst()) { #expect((8000...12_000).contains(next - former)) }
        worker.loop.end()
    }

    @Test func aChangeOfTheStatusIsReportedWithinASecond() {
        let changes: [(inout WorkerStatus) -> Void] = [
            { $0.phase = .draining }, { $0.isReady = true },
            { $0.breakers = [.init(route: "a:1 key K", code: "Shutdown", sentence: "-", secondsOpen: 1)] },
            { $0.breakers[0] = .init(route: "a:1 key K", code: "Forbidden", sentence: "-", secondsOpen: 1) },
            { $0.paused = ["everything"] },
        ]
        let worker = Reporter()
        worker.pass(milliseconds: 3500)
        for change in changes {
            let count = worker.published.count
            change(&worker.status)
            worker.pass(milliseconds: 1100)
            #expect(worker.published.count == count + 1)
            worker.pass(milliseconds: 1400)
        }
        // Other parts of the status change with each push.
        let count = worker.published.count
        worker.status.inFlight = 7
        worker.pass(milliseconds: 4000)
        #expect(worker.published.count == count)
        worker.loop.end()
    }

    @Test func manyChangesCauseOneReportASecond() {
        let worker = Reporter()
        worker.pass(milliseconds: 3000)
        let count = worker.published.count
        for _ in 0..<300 {
            worker.loop.enter { worker.reports.changed() }
            worker.pass(milliseconds: 10)
        }
        #expect((3...4).contains(worker.published.count - count))
        worker.loop.end()
    }

    @Test func aCommandRequestsAReportEachSecond() {
        let worker = Reporter()
        worker.pass(milliseconds: 3000)
        let count = worker.published.count
        worker.loop.enter { worker.reports.commanded(seconds: 4) }
        worker.pass(milliseconds: 6500)
        #expect(worker.published.count == count + 5)
        worker.loop.end()
    }

    @Test(arguments: [true, false]) func theLastReportEndsTheReports(isConfirmed: Bool) {
        let worker = Reporter()
        worker.pass(milliseconds: 3000)
        worker.confirms = isConfirmed
        worker.status.phase = .draining
        worker.end()
        worker.pass(milliseconds: 100)
        let count = worker.published.count
        #expect(worker.published.last == Reporter.Report(at: 3005, phase: .draining, hasEnded: true))
        #expect(worker.hasEnded == isConfirmed)
        worker.confirm()
        #expect(worker.hasEnded)
        worker.status.isReady = true
        worker.loop.enter {
            worker.reports.changed()
            worker.reports.commanded(seconds: 10)
        }
        worker.pass(milliseconds: 30_000)
        #expect(worker.published.count == count)
        worker.loop.end()
    }

    @Test func aStopDiscardsAReportWhoseStatusIsBeingCollected() {
        let worker = Reporter()
        worker.pass(milliseconds: 3000)
        let count = worker.published.count
        worker.loop.enter {
            worker.reports.changed()
            worker.reports.stop()
        }
        worker.pass(milliseconds: 30_000)
        #expect(worker.published.count == count)
        worker.loop.end()
    }
}
