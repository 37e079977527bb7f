import BrokerTopology
import ControlProtocol
import Crypto
import Delivery
import EventLoop
import TestKit
import Testing

@testable import Worker

/// Fleet control of a worker at a scripted broker, on virtual time.
@Suite struct FleetControlTests {
    // MARK: Start

    @Test func aWorkerConsumesOnceItHasAppliedThePauses() throws {
        try FleetHarness.run { harness in
            harness.publish(try harness.record(pause: "com.example.app"))
            let worker = try harness.startWorker()
            #expect(harness.run { !worker.permissions.isEmpty })
            #expect(harness.seconds(worker.permissions[0]) < 2)
            #expect(worker.paused == ["topic com.example.app"])
            #expect(worker.pauses.waitReason == nil && worker.pauses.status?.reason == nil)
            #expect(harness.run { (try? harness.reports.last?.pauses?.number) == 1 })
            #expect(try harness.reports.last?.status.paused == ["topic com.example.app"])
        }
    }

    @Test func aWorkerWithoutARecordConsumesAfter30SecondsAndSaysSo() throws {
        try FleetHarness.run { harness in
            let worker = try harness.startWorker()
            harness.pass(seconds: 29.5)
            #expect(worker.permissions.isEmpty)
            #expect(worker.pauses.waitReason?.hasPrefix("waiting for the pauses of the fleet: ") == true)
            #expect(harness.count(ofLogged: "pauses of the fleet not read") == 0)
            harness.pass(seconds: 1)
            #expect(worker.permissions.map { harness.seconds($0) } == [30])
            #expect(harness.count(ofLogged: "pauses of the fleet not read") == 1)
            let reason =
                "the pauses of the fleet are unknown: the stream contains no record; run: "
                + "martlet topology apply --config martlet.yaml"
            #expect(worker.pauses.status == WorkerStatus.Fleet(pausesRevision: nil, reason: reason))
            #expect(harness.run { (try? harness.reports.last?.status.fleet?.reason) == reason })
            // A late record is applied, but permits nothing again.
            harness.publish(try harness.record(pause: "com.example.app"))
            #expect(harness.run { worker.paused == ["topic com.example.app"] })
            #expect(worker.permissions.count == 1 && worker.pauses.status?.reason == nil)
            #expect(harness.count(ofLogged: "pauses of the fleet read again") == 1)
        }
    }

    @Test func aWorkerConsumesAfter30SecondsWithoutABroker() throws {
        try FleetHarness.run { harness in
            harness.publish(try harness.record(pause: "com.example.app"))
            harness.stopBroker()
            let worker = try harness.startWorker()
            harness.pass(seconds: 31)
            #expect(worker.permissions.map { harness.seconds($0) } == [30])
            #expect(worker.paused.isEmpty)
            try harness.startBroker()
            #expect(harness.run { worker.paused == ["topic com.example.app"] })
        }
    }

    // MARK: Pauses

    @Test func recordsThatAreNoneAreSkipped() throws {
        try FleetHarness.run { harness in
            let (valid, next) = (
                try harness.record(pause: "com.example.app"),
                try harness.record(after: harness.record(pause: "com.example.app"), pause: "com.example.other")
            )
            harness.publish(valid)
            func publishOthers() {
                harness.publish(Array("no JSON".utf8), key: "pauses")
                harness.publish(Array(#"{"type":"push.pauses.v2"}"#.utf8), key: "pauses")
                harness.publish(next.json, key: "pauses", userID: nil)
                harness.publish(next.json, key: harness.names.pausesStream, exchange: "")
            }
            for _ in 0..<20 { publishOthers() }
            let worker = try harness.startWorker()
            #expect(harness.run { !worker.permissions.isEmpty })
            #expect(harness.seconds(worker.permissions[0]) < 10)
            #expect(worker.paused == ["topic com.example.app"])
            publishOthers()
            harness.pass(seconds: 5)
            #expect(worker.paused == ["topic com.example.app"] && worker.pauses.revision == valid.revision)
            harness.publish(next)
            #expect(harness.run { worker.paused == ["topic com.example.app", "topic com.example.other"] })
        }
    }

    @Test func ofRecordsBehindOtherMessagesOnlyTheNewestIsApplied() throws {
        try FleetHarness.run { harness in
            // Two series, because each revision of another series is applied.
            let former = PauseRecord(first: UUIDValue(high: 0x4000, low: 99))
            let first = try harness.record(pause: "com.example.app")
            let second = try harness.record(after: first, pause: "com.example.other")
            for record in [former, first, second] { harness.publish(record) }
            for _ in 0..<100 { harness.publish(Array("no JSON".utf8), key: "pauses") }
            let worker = try harness.startWorker()
            #expect(harness.run { !worker.permissions.isEmpty })
            #expect(worker.pausedAtPermissions == [["topic com.example.app", "topic com.example.other"]])
            #expect(worker.pauses.revision == second.revision)
        }
    }

    @Test func revisionsThatGoBackwardsAreIgnored() throws {
        try FleetHarness.run { harness in
            let first = PauseRecord(first: FleetHarness.series)
            let second = try harness.record(after: first, pause: "com.example.app")
            let third = try harness.record(after: second, pause: "com.example.other")
            harness.publish(third)
            let worker = try harness.startWorker()
            #expect(harness.run { !worker.permissions.isEmpty })
            for old in [first, second, third] { harness.publish(old) }
            harness.pass(seconds: 5)
            #expect(worker.paused == ["topic com.example.app", "topic com.example.other"])
            // After a connection loss, the newest message of the stream is an old record, too.
            harness.publish(first)
            harness.stopBroker()
            harness.pass(seconds: 2)
            try harness.startBroker()
            harness.pass(seconds: 20)
            #expect(worker.pauses.status == WorkerStatus.Fleet(pausesRevision: 2))
            #expect(try harness.reports.last?.pauses == third.revision)
            #expect(worker.paused.count == 2)
        }
    }

    @Test func aPauseEndsByTheClockAlsoWhileTheBrokerIsAway() throws {
        try FleetHarness.run { harness in
            harness.publish(try harness.record(pause: "com.example.app", untilSeconds: 60))
            let worker = try harness.startWorker()
            #expect(harness.run { !worker.permissions.isEmpty })
            harness.stopBroker()
            harness.pass(seconds: 58)
            #expect(worker.paused == ["topic com.example.app"])
            #expect(worker.pauses.status?.reason?.contains("may be older than the newest, revision 1") == true)
            harness.pass(seconds: 3)
            #expect(worker.paused.isEmpty)
        }
    }

    @Test func aConfigurationWithoutFleetControlEndsItsPauses() throws {
        try FleetHarness.run { harness in
            harness.publish(try harness.record(pause: "com.example.app"))
            let worker = try harness.startWorker()
            #expect(harness.run { !worker.permissions.isEmpty })
            let without = try FleetWorker.generation(harness.folder, broker: FleetHarness.url, "")
            harness.loop.enter { worker.change(to: without) }
            harness.pass(seconds: 3)
            #expect(worker.paused.isEmpty && worker.pauses.status == nil)
            #expect(harness.broker.connectionCount == 0)
            let count = harness.arrivals.count
            harness.pass(seconds: 30)
            #expect(harness.arrivals.count == count)
            let with = try FleetWorker.generation(harness.folder, broker: FleetHarness.url)
            harness.loop.enter { worker.change(to: with) }
            #expect(harness.run { worker.paused == ["topic com.example.app"] })
        }
    }

    // MARK: Commands

    @Test(arguments: [(30.0, true), (61.0, false)])
    func commandsOfAnAbsenceRunOnceOrNever(seconds: Double, areRun: Bool) throws {
        try FleetHarness.run { harness in
            _ = try harness.startReadyWorker()
            harness.command(1)
            harness.pass(seconds: 3)
            harness.stopBroker()
            harness.pass(seconds: seconds / 2)
            for number in 2...4 as ClosedRange<UInt64> { harness.command(number) }
            harness.pass(seconds: seconds / 2)
            try harness.startBroker()
            harness.pass(seconds: 60)
            harness.command(5)
            harness.pass(seconds: 3)
            #expect(try harness.outcomes(of: 1) == [.done])
            for number in 2...4 as ClosedRange<UInt64> {
                #expect(try harness.outcomes(of: number) == (areRun ? [.done] : []), "\(number)")
            }
            #expect(try harness.outcomes(of: 5) == [.done])
        }
    }

    @Test func aCommandRunsOnceForEachID() throws {
        try FleetHarness.run { harness in
            _ = try harness.startReadyWorker()
            harness.command(1)
            harness.command(1)
            harness.command(2, workers: ["w2"])
            harness.command(3, .unsupported("dance"))
            harness.pass(seconds: 2)
            harness.command(1)
            harness.pass(seconds: 2)
            #expect(try harness.outcomes(of: 1) == [.done])
            #expect(try harness.outcomes(of: 2) == [])
            let replies = try harness.replies(to: 3)
            #expect(replies.map(\.outcome) == [.unsupported] && replies[0].sentence == "unknown action: dance")
            #expect(try harness.replies(to: 1).map(\.status?.worker) == ["w1"])
        }
    }

    @Test func commandsAboveTheLimitAreBusy() throws {
        try FleetHarness.run { harness in
            _ = try harness.startReadyWorker()
            for number in 1...25 as ClosedRange<UInt64> { harness.command(number) }
            harness.pass(seconds: 3)
            let outcomes = try (1...25).map { try harness.outcomes(of: UInt64($0)) }
            #expect(outcomes == Array(repeating: [.done], count: 20) + Array(repeating: [.busy], count: 5))
            harness.command(26)
            harness.pass(seconds: 1)
            #expect(try harness.outcomes(of: 26) == [.done])
        }
    }

    @Test func messagesThatAreNoCommandsAreSkipped() throws {
        try FleetHarness.run { harness in
            _ = try harness.startReadyWorker()
            let command = FleetCommand(id: FleetHarness.id(1), by: "alice", action: .describe)
            harness.publish(Array("no JSON".utf8), key: "command.describe")
            harness.publish(command.json, key: "audit.describe")
            harness.publish(command.json, key: "command.describe", userID: nil)
            harness.publish(command.json, key: harness.names.commandsStream, exchange: "")
            harness.pass(seconds: 2)
            #expect(try harness.outcomes(of: 1) == [])
            #expect(harness.count(ofLogged: "record of fleet control invalid, ignored") == 1)
            harness.command(1)
            harness.pass(seconds: 2)
            #expect(try harness.outcomes(of: 1) == [.done])
        }
    }

    @Test func aCommandPausesOneWorker() throws {
        try FleetHarness.run { harness in
            let worker = try harness.startReadyWorker()
            harness.command(1, .pause(.topic("com.example.app")), workers: [worker.address])
            #expect(harness.run { worker.paused == ["topic com.example.app"] })
            harness.command(2, .pause(.topic("com.example.none")), workers: [worker.address])
            harness.pass(seconds: 2)
            #expect(try harness.replies(to: 1).map(\.sentence) == ["paused topic com.example.app"])
            #expect(try harness.replies(to: 2).map(\.outcome) == [.failed])
            // The pause is not one of the fleet, so no record ends it.
            harness.publish(try harness.record(pause: "com.example.app"))
            harness.pass(seconds: 2)
            harness.command(3, .resume(.topic("com.example.app")), workers: [worker.address])
            harness.pass(seconds: 2)
            #expect(try harness.outcomes(of: 3) == [.done])
            #expect(worker.paused == ["topic com.example.app"] && worker.local.pauses.count == 1)
        }
    }

    // MARK: Reports

    @Test func theLastReportSaysThatTheWorkerHasEnded() throws {
        try FleetHarness.run { harness in
            let worker = try harness.startReadyWorker()
            harness.pass(seconds: 30)
            harness.loop.enter { worker.close() }
            #expect(harness.run { worker.isClosed })
            let reports = try harness.reports
            #expect((3...6).contains(reports.count))
            #expect(reports.map(\.sequence) == Array(1...reports.count))
            #expect(reports.map(\.hasEnded) == Array(repeating: false, count: reports.count - 1) + [true])
            #expect(Set(reports.map(\.bootID)).count == 1)
            #expect(harness.broker.connectionCount == 0)
        }
    }

    @Test func aWorkerWithoutABrokerClosesInTime() throws {
        try FleetHarness.run { harness in
            let worker = try harness.startReadyWorker()
            harness.stopBroker()
            harness.pass(seconds: 5)
            let start = harness.loop.now.monotonic
            harness.loop.enter { worker.close() }
            #expect(harness.run { worker.isClosed })
            #expect(start.duration(to: harness.loop.now.monotonic) <= .seconds(2))
        }
    }
}
