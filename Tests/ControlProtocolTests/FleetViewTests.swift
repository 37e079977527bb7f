import EventLoop
import Testing

@testable import ControlProtocol

/// The knowledge of a reader about a fleet, from the reports of its workers.
@Suite struct FleetViewTests {
    private var view = FleetView()

    private mutating func receive(_ report: FleetReport, at seconds: Int64) -> FleetView.Receipt {
        view.receive(report.json, at: .at(seconds))
    }

    private func presences(at seconds: Int64) -> [FleetView.Presence] {
        view.workers(at: .at(seconds)).map { $0.presence(at: .at(seconds)) }
    }

    @Test mutating func aWorkerWithoutReportsIsSilentAfter35SecondsAndForgottenAfter24Hours() {
        #expect(receive(FleetSamples.report(sequence: 1), at: 100) == .accepted)
        #expect(presences(at: 134) == [.reporting])
        #expect(presences(at: 135) == [.silent])
        #expect(receive(FleetSamples.report(sequence: 2), at: 200) == .accepted)
        #expect(presences(at: 200) == [.reporting])
        #expect(presences(at: 200 + 86_399) == [.silent])
        #expect(presences(at: 200 + 86_400) == [])
        view.forgetOld(at: .at(200 + 86_400))
        #expect(receive(FleetSamples.report(sequence: 1), at: 90_000) == .accepted)
    }

    @Test mutating func anEndedWorkerStaysEnded() {
        #expect(receive(FleetSamples.report(sequence: 1), at: 100) == .accepted)
        #expect(receive(FleetSamples.report(sequence: 2, hasEnded: true), at: 101) == .accepted)
        #expect(receive(FleetSamples.report(sequence: 3), at: 102) == .outdated)
        #expect(presences(at: 103) == [.ended])
        #expect(view.consumers(at: .at(103)) == 0)
        #expect(presences(at: 101 + 86_400) == [])
    }

    @Test mutating func anOutdatedReportIsIgnored() {
        #expect(receive(FleetSamples.report(sequence: 2, revision: 5), at: 100) == .accepted)
        #expect(receive(FleetSamples.report(sequence: 2, revision: 6), at: 101) == .outdated)
        #expect(receive(FleetSamples.report(sequence: 1, revision: 6), at: 101) == .outdated)
        #expect(view.workers(at: .at(101)).map(\.report.pauses?.number) == [5])
    }

    @Test mutating func aRestartedWorkerReplacesItsPreviousProcess() {
        #expect(receive(FleetSamples.report("w/1", boot: 1, sequence: 900), at: 100) == .accepted)
        #expect(receive(FleetSamples.report("w/1", boot: 2, sequence: 1), at: 120) == .accepted)
        #expect(presences(at: 120) == [.reporting, .reporting])
        #expect(receive(FleetSamples.report("w/1", boot: 2, sequence: 2), at: 140) == .accepted)
        #expect(view.workers(at: .at(140)).map(\.report.bootID) == [FleetSamples.uuid(2)])
    }

    @Test mutating func consumersOfReportingWorkersAreCounted() {
        #expect(receive(FleetSamples.report("a", boot: 1), at: 100) == .accepted)
        #expect(receive(FleetSamples.report("b", boot: 2), at: 120) == .accepted)
        #expect(view.consumers(at: .at(120)) == 4)
        #expect(view.consumers(of: "push.requests", at: .at(120)) == 4)
        #expect(view.consumers(of: "push.other", at: .at(120)) == 0)
        #expect(view.consumers(at: .at(140)) == 2)
    }

    @Test mutating func aRevisionIsInForceWhereWorkersReportIt() {
        let other = FleetSamples.uuid(0xB)
        let reports = [
            FleetSamples.report("later", boot: 1, revision: 19), FleetSamples.report("same", boot: 2, revision: 18),
            FleetSamples.report("earlier", boot: 3, revision: 17), FleetSamples.report("none", boot: 4),
            FleetSamples.report("other", boot: 5, revision: 99, series: other),
            FleetSamples.report("ended", boot: 6, hasEnded: true, revision: 18),
        ]
        for report in reports { #expect(receive(report, at: 100) == .accepted) }
        #expect(receive(FleetSamples.report("silent", boot: 7, revision: 18), at: 60) == .accepted)
        let revision = PauseRevision(series: FleetSamples.series, number: 18)
        let coverage = view.coverage(of: revision, at: .at(100))
        #expect(coverage.inForce.map(\.report.worker) == ["later", "same"])
        #expect(coverage.missing.map(\.report.worker) == ["earlier", "none", "other"])
        #expect(coverage.silent.map(\.report.worker) == ["silent"])
    }

    @Test mutating func malformedReportsAreCounted() {
        guard case .malformed(let reason) = view.receive(Array("{}".utf8), at: .at(1)) else {
            Issue.record("a report without members was accepted")
            return
        }
        #expect(reason == "type must be push.status.v1")
        let long = FleetSamples.report(String(repeating: "x", count: 300))
        #expect(receive(long, at: 1) != .accepted)
        #expect(view.malformedCount == 2)
        #expect(view.workers(at: .at(1)).isEmpty)
    }

    @Test mutating func aFullViewRefusesNewWorkersUntilOthersAreSilent() {
        view = FleetView(workersMax: 2)
        #expect(receive(FleetSamples.report("a", boot: 1), at: 100) == .accepted)
        #expect(receive(FleetSamples.report("b", boot: 2), at: 100) == .accepted)
        #expect(receive(FleetSamples.report("c", boot: 3), at: 130) == .full)
        #expect(view.refusedCount == 1)
        #expect(receive(FleetSamples.report("a", boot: 1, sequence: 2), at: 134) == .accepted)
        #expect(receive(FleetSamples.report("c", boot: 3), at: 135) == .accepted)
        #expect(view.workers(at: .at(135)).map(\.report.worker) == ["a", "c"])
    }

    @Test mutating func aNameHasAtMost16Processes() {
        let limit = UInt64(FleetView.processesPerNameMax)
        for boot in 1...limit { #expect(receive(FleetSamples.report("w", boot: boot), at: 100) == .accepted) }
        #expect(receive(FleetSamples.report("w", boot: limit + 1), at: 100) == .full)
        #expect(receive(FleetSamples.report("w", boot: 1, sequence: 2), at: 110) == .accepted)
        #expect(receive(FleetSamples.report("v", boot: limit + 1), at: 110) == .accepted)
        #expect(receive(FleetSamples.report("w", boot: limit + 2), at: 136) == .accepted)
        #expect(view.workers(at: .at(136)).map(\.report.worker) == ["v", "w", "w"])
    }

    @Test mutating func theMemoryOfForgedReportsIsLimited() {
        view = FleetView(memoryBytesMax: 300_000)
        func report(_ boot: UInt64, _ reasons: Int, _ sequence: Int) -> FleetReport {
            var status = WorkerStatus(worker: "w\(boot)")
            status.reasons = [String](repeating: "", count: reasons)
            return FleetReport(status, bootID: FleetSamples.uuid(boot), sequence: sequence, sentAt: FleetSamples.now)
        }
        // A report with 900 empty reasons has about 4 KB of JSON, and is estimated at 66 KB.
        for boot: UInt64 in 1...4 { #expect(receive(report(boot, 900, 1), at: 1) == .accepted) }
        #expect(receive(report(5, 900, 1), at: 1) == .full)
        #expect(receive(report(5, 0, 1), at: 1) == .accepted)
        #expect(receive(report(5, 900, 2), at: 1) == .full)
        #expect(receive(report(4, 0, 2), at: 1) == .accepted)
        #expect(receive(report(5, 900, 2), at: 1) == .accepted)
    }
}
