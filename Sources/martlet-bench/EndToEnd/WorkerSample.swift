import TestKit

/// A measurement of Martlet's workers, from the last result of the warm-up to the last measured result.
///
/// The queue contains further requests, so that the workers are equally busy at the end.
struct WorkerSample {
    /// The time limit of each wait for results.
    private static let secondsMax = 600

    let options: EndToEndOptions
    let fixture: WorkerFixture
    /// The number of devices of each request.
    var devices = 1

    /// The number of results of each request. A request to several devices also has a report.
    private var resultsPerRequest: Int { devices == 1 ? 1 : devices + 1 }

    /// The results between which the workers are measured. The requests to the devices of users follow all other
    /// requests in the queue. Only a whole run therefore has both parts of the work.
    private var measured: Range<Int> {
        devices == 1 ? options.warmUp..<options.warmUp + options.messages : 0..<total * resultsPerRequest
    }

    /// The number of requests to publish.
    var total: Int { options.warmUp + options.messages + options.inFlightOfAll }

    func measure() async throws -> Measurement {
        let acceptedBefore = try await fixture.acceptedCount()
        let workers = try await startWorkers()
        let start = try await snapshot(of: workers, atResults: measured.lowerBound)
        let end = try await snapshot(of: workers, atResults: measured.upperBound)
        _ = try await snapshot(of: workers, atResults: total * resultsPerRequest)
        let peakBytes = workers.map(\.peakResidentBytes).reduce(0, +)
        for worker in workers { try await fixture.end(worker) }
        try await fixture.expectCompleted(total * resultsPerRequest)
        let accepted = try await fixture.acceptedCount() - acceptedBefore
        guard accepted == total * devices else {
            throw ProcessError("only \(accepted) of \(total * devices) pushes were accepted")
        }
        let messages = Double(end.results - start.results) / Double(resultsPerRequest)
        guard messages > 0 else {
            throw ProcessError("cannot measure the workers: too few requests; increase --messages")
        }
        // The kernel estimates user and system time by sampling, but their sum is exact.
        let exact = (end.time - start.time).microseconds / messages
        let user = (end.userTime - start.userTime).microseconds
        let split = user + (end.systemTime - start.systemTime).microseconds
        let userShare = split > 0 ? user / split : 1
        return Measurement(
            perSecond: messages / ((end.at - start.at).microseconds / 1e6), processorMicroseconds: exact,
            userMicroseconds: exact * userShare, systemMicroseconds: exact * (1 - userShare),
            peerMicroseconds: end.peerTimes.merging(start.peerTimes, uniquingKeysWith: -)
                .mapValues { $0.microseconds / messages },
            peakMegabytes: Double(peakBytes) / 1e6)
    }

    /// Starts the workers concurrently. Otherwise the first worker would push requests before the last worker starts.
    private func startWorkers() async throws -> [ChildProcess] {
        try await withThrowingTaskGroup { group in
            for _ in 0..<options.workers { group.addTask { try await fixture.worker() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private struct Snapshot {
        let at: ContinuousClock.Instant
        let results: Int
        /// The processor time of all workers.
        let time: Duration
        let userTime: Duration
        let systemTime: Duration
        let peerTimes: [Measurement.Peer: Duration]
    }

    /// Waits for `count` results, and returns a snapshot.
    private func snapshot(of workers: [ChildProcess], atResults count: Int) async throws -> Snapshot {
        let deadline = ContinuousClock.now + .seconds(Self.secondsMax)
        while true {
            let results = try await fixture.testClient.count(in: WorkerFixture.results)
            let snapshot = Snapshot(
                at: .now, results: results, time: workers.map(\.processorTime).reduce(.zero, +),
                userTime: workers.map(\.splitProcessorTime.user).reduce(.zero, +),
                systemTime: workers.map(\.splitProcessorTime.system).reduce(.zero, +),
                peerTimes: await fixture.peerTimes())
            if results >= count { return snapshot }
            guard workers.allSatisfy(\.isRunning), snapshot.at < deadline else {
                throw ProcessError(
                    "only \(results) of \(count) results: \(workers.flatMap { $0.errors.linesSoFar.suffix(5) })")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
