import TestKit

/// Martlet's workers, looked at from outside: from the moment when the warm-up's results were there until those of all
/// messages that are measured were. More are in the queue: the workers are as busy at the end as at the beginning.
struct WorkerSample {
    /// How long one may take.
    private static let secondsMax = 600

    let options: EndToEndOptions
    let fixture: WorkerFixture

    /// How many have to be in the queue.
    var total: Int { options.warmUp + options.messages + options.inFlightOfAll }

    func measure() async throws -> Measurement {
        let acceptedBefore = try await fixture.acceptedCount()
        let workers = try await startWorkers()
        let start = try await look(at: workers, until: options.warmUp)
        let end = try await look(at: workers, until: options.warmUp + options.messages)
        _ = try await look(at: workers, until: total)
        let peakBytes = workers.map(\.peakResidentBytes).reduce(0, +)
        for worker in workers { try await fixture.end(worker) }
        try await fixture.expectDone(total)
        let accepted = try await fixture.acceptedCount() - acceptedBefore
        guard accepted == total else { throw ProcessError("\(accepted) of \(total) pushes were accepted") }
        let messages = Double(end.results - start.results)
        guard messages > 0 else { throw ProcessError("too few messages to measure anything") }
        // The kernel splits the time in ticks of 10 ms, but counts all of it exactly.
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

    /// At the same time: what one does before the next is there would not be measured.
    private func startWorkers() async throws -> [ChildProcess] {
        try await withThrowingTaskGroup { group in
            for _ in 0..<options.workers { group.addTask { try await fixture.worker() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private struct Look {
        let at: ContinuousClock.Instant
        let results: Int
        /// Of all workers.
        let time: Duration
        let userTime: Duration
        let systemTime: Duration
        let peerTimes: [Measurement.Peer: Duration]
    }

    /// Looks often until there are so many results.
    private func look(at workers: [ChildProcess], until count: Int) async throws -> Look {
        let deadline = ContinuousClock.now + .seconds(Self.secondsMax)
        while true {
            let results = try await fixture.testClient.count(in: WorkerFixture.results)
            let look = Look(
                at: .now, results: results, time: workers.map(\.processorTime).reduce(.zero, +),
                userTime: workers.map(\.splitProcessorTime.user).reduce(.zero, +),
                systemTime: workers.map(\.splitProcessorTime.system).reduce(.zero, +),
                peerTimes: await fixture.peerTimes())
            if results >= count { return look }
            guard workers.allSatisfy(\.isRunning), look.at < deadline else {
                throw ProcessError(
                    "\(results) of \(count) results: \(workers.flatMap { $0.errors.linesSoFar.suffix(5) })")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
