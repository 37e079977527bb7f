import Crypto
package import EventLoop
import JSON

/// The workers of a fleet that a console or command knows. The view performs no I/O.
///
/// The view identifies a worker by the boot ID of its process. Reports may be forged, so their number and their memory
/// are limited. If the view is full, workers that do not report make room. Without such a worker, or within a second of
/// the last search for one, the report is refused.
package struct FleetView: Sendable {
    package static let workersMax = 10_000
    /// Maximum number of processes with the same name.
    package static let processesPerNameMax = 16
    /// Maximum memory of all reports, as estimated by ``FleetReport/memoryBytes(ofJSON:)``.
    package static let memoryBytesMax = 128 << 20
    /// Age of the last report at which a worker becomes silent. The longest interval of reports is 25 s, and a fifth
    /// more with its random deviation.
    package static let silentSeconds = 35
    /// Age of the last report at which the view forgets a worker.
    package static let forgottenSeconds = 24 * 3600
    /// Minimum time between two reports for a rate.
    private static let rateMillisecondsMin: Int64 = 500
    /// Minimum time between two searches of a full view for workers that make room.
    private static let searchSeconds = 1

    package enum Presence: Sendable, Hashable {
        case reporting
        /// A worker without a recent report, such as one that was killed, cut off or stalled.
        case silent
        /// A worker that has drained and ended.
        case ended
    }

    package struct Worker: Sendable, Hashable {
        package let report: FleetReport
        /// The time of the last report, by the reader's clock.
        package let reportedAt: MonotonicTime
        fileprivate let memoryBytes: Int
        /// The outcomes a second between two reports, in the order of `Outcome.allCases`; nil until two reports of the
        /// process are far enough apart.
        package let rates: [Double]?

        package func presence(at now: MonotonicTime) -> Presence {
            if report.hasEnded { return .ended }
            return now.isWithin(.seconds(silentSeconds), of: reportedAt) ? .reporting : .silent
        }

        /// Returns the outcomes a second since this report. Reports that follow each other closely keep the former
        /// rates. Times are by the worker's clock, because the broker may deliver reports with delay.
        fileprivate func rates(until later: FleetReport) -> [Double]? {
            let milliseconds = later.sentAt - report.sentAt
            guard milliseconds >= FleetView.rateMillisecondsMin else { return rates }
            let ended = later.status.totals.since(report.status.totals).ended
            return ended.map { Double($0) * 1000 / Double(milliseconds) }
        }

        fileprivate func isForgotten(at now: MonotonicTime) -> Bool {
            !now.isWithin(.seconds(forgottenSeconds), of: reportedAt)
        }
    }

    /// The effect of a report.
    package enum Receipt: Sendable, Hashable {
        case accepted
        /// A report that is not newer than the known report of the process.
        case outdated
        /// A report that exceeds a limit of the view.
        case full
        /// An invalid report, with the reason.
        case malformed(String)
    }

    private let workersMax: Int
    private let memoryBytesMax: Int
    private var workersByBoot: [UUIDValue: Worker] = [:]
    private var bootsByName: [String: Set<UUIDValue>] = [:]
    private var memoryBytes = 0
    private var searchedAt: MonotonicTime?
    /// Whether the view has no report.
    package var isEmpty: Bool { workersByBoot.isEmpty }
    /// The number of malformed reports.
    package private(set) var malformedCount = 0
    /// The number of reports that were refused because the view was full.
    package private(set) var refusedCount = 0

    /// - Parameters:
    ///   - workersMax: a test may lower the limit.
    ///   - memoryBytesMax: a test may lower the limit.
    package init(workersMax: Int = Self.workersMax, memoryBytesMax: Int = Self.memoryBytesMax) {
        (self.workersMax, self.memoryBytesMax) = (workersMax, memoryBytesMax)
    }

    /// Records a report.
    ///
    /// - Parameter bytes: the body of the message.
    package mutating func receive(_ bytes: [UInt8], at now: MonotonicTime) -> Receipt {
        let report: FleetReport
        do throws(InputError) {
            report = try FleetReport(json: bytes)
        } catch {
            malformedCount += 1
            return .malformed(error.message)
        }
        let known = workersByBoot[report.bootID]
        if let known, known.report.hasEnded || known.report.sequence >= report.sequence { return .outdated }
        // A report removes the processes with the same name that are silent or have ended.
        for boot in bootsByName[report.worker] ?? [] where workersByBoot[boot]?.presence(at: now) != .reporting {
            forget(boot)
        }
        let worker = Worker(
            report: report, reportedAt: now, memoryBytes: report.memoryBytes(ofJSON: bytes.count),
            rates: known.flatMap { $0.rates(until: report) })
        guard makeRoom(for: worker, now) else {
            refusedCount += 1
            return .full
        }
        forget(report.bootID)
        workersByBoot[report.bootID] = worker
        bootsByName[report.worker, default: []].insert(report.bootID)
        memoryBytes += worker.memoryBytes
        return .accepted
    }

    private func hasRoom(for worker: Worker) -> Bool {
        let known = workersByBoot[worker.report.bootID]
        let boots = bootsByName[worker.report.worker] ?? []
        guard boots.contains(worker.report.bootID) || boots.count < Self.processesPerNameMax else { return false }
        return workersByBoot.count + (known == nil ? 1 : 0) <= workersMax
            && memoryBytes + worker.memoryBytes - (known?.memoryBytes ?? 0) <= memoryBytesMax
    }

    private mutating func makeRoom(for worker: Worker, _ now: MonotonicTime) -> Bool {
        if hasRoom(for: worker) { return true }
        if let searchedAt, now.isWithin(.seconds(Self.searchSeconds), of: searchedAt) { return false }
        searchedAt = now
        for (boot, other) in workersByBoot where boot != worker.report.bootID && other.presence(at: now) != .reporting {
            forget(boot)
        }
        return hasRoom(for: worker)
    }

    private mutating func forget(_ boot: UUIDValue) {
        guard let worker = workersByBoot.removeValue(forKey: boot) else { return }
        memoryBytes -= worker.memoryBytes
        let name = worker.report.worker
        bootsByName[name]?.remove(boot)
        if bootsByName[name]?.isEmpty == true { bootsByName[name] = nil }
    }

    /// Forgets the workers whose last report is ``forgottenSeconds`` old.
    package mutating func forgetOld(at now: MonotonicTime) {
        for (boot, worker) in workersByBoot where worker.isForgotten(at: now) { forget(boot) }
    }
}

extension FleetView {
    /// Returns the workers that are not forgotten, by name.
    package func workers(at now: MonotonicTime) -> [Worker] {
        workersByBoot.values.filter { !$0.isForgotten(at: now) }
            .sorted { ($0.report.worker, $0.report.bootID) < ($1.report.worker, $1.report.bootID) }
    }

    private func reports(at now: MonotonicTime) -> some Sequence<FleetReport> {
        workersByBoot.values.lazy.filter { $0.presence(at: now) == .reporting }.map(\.report)
    }

    /// Returns the number of consumers of the reporting workers, of all queues.
    package func consumers(at now: MonotonicTime) -> Int { reports(at: now).reduce(0) { $0 + $1.consumers } }

    /// Returns the number of consumers of a queue, as far as workers report it. Reports of workers with very many
    /// queues omit some queues.
    package func consumers(of queue: String, at now: MonotonicTime) -> Int {
        reports(at: now).reduce(0) { sum, report in
            report.consumedQueues.lazy.filter { $0.name == queue }.reduce(sum) { $0 + $1.consumers }
        }
    }

    /// The workers that have applied a record of pauses, and the workers that have not.
    package struct Coverage: Sendable, Hashable {
        /// Reporting workers that have applied the record or a later record.
        package var inForce: [Worker] = []
        /// Reporting workers that have not applied the record.
        package var missing: [Worker] = []
        /// Workers whose state is unknown.
        package var silent: [Worker] = []
    }

    /// Returns where a record of pauses is in force. Ended workers are omitted.
    package func coverage(of revision: PauseRevision, at now: MonotonicTime) -> Coverage {
        workers(at: now).reduce(into: Coverage()) { coverage, worker in
            switch worker.presence(at: now) {
            case .reporting where worker.report.pauses?.includes(revision) == true: coverage.inForce.append(worker)
            case .reporting: coverage.missing.append(worker)
            case .silent: coverage.silent.append(worker)
            case .ended: break
            }
        }
    }
}
