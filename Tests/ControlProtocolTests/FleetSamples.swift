import Crypto
import Delivery
import EventLoop

@testable import ControlProtocol

/// Messages of fleet control for tests.
enum FleetSamples {
    /// A time in UNIX milliseconds.
    static let now: Int64 = 1_764_300_000_000
    static let series = uuid(0xA)

    static func uuid(_ number: UInt64) -> UUIDValue { UUIDValue(high: 0x4000, low: number) }

    static func pause(
        _ scope: PauseScope, by: String = "alice", why: String = "wrong campaign", since: Int64 = now,
        until: Int64? = nil
    ) -> FleetPause {
        FleetPause(scope: scope, by: by, why: why, since: since, until: until)
    }

    static func record(_ number: Int, _ pauses: [FleetPause]) -> PauseRecord {
        PauseRecord(
            revision: PauseRevision(series: series, number: number), change: "pause topic com.example.shop",
            pauses: pauses)
    }

    static func status(_ worker: String = "host/7/0.1.0", queues: [String] = ["push.requests"]) -> WorkerStatus {
        var status = WorkerStatus(worker: worker)
        (status.version, status.phase, status.isReady) = ("0.1.0", .running, true)
        status.breakers = [.init(route: "key K", code: "Shutdown", sentence: "APNs ends.", secondsOpen: 6)]
        let consumed = queues.map { WorkerStatus.ConsumedQueue(name: $0, isConsumed: true) }
        status.lanes = [
            .init(number: 0, makesProgress: true, report: .init(wantsRequests: true, queues: consumed)),
            .init(number: 1, makesProgress: true, report: .init(wantsRequests: true, queues: consumed)),
            .init(number: 2, makesProgress: false),
        ]
        return status
    }

    static func report(
        _ worker: String = "host/7/0.1.0", boot: UInt64 = 1, sequence: Int = 1, hasEnded: Bool = false,
        revision: Int? = nil, series: UUIDValue = series
    ) -> FleetReport {
        FleetReport(
            status(worker), bootID: uuid(boot), sequence: sequence, sentAt: now, hasEnded: hasEnded,
            pauses: revision.map { PauseRevision(series: series, number: $0) })
    }
}

extension MonotonicTime {
    static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
}
