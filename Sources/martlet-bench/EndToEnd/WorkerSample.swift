import TestKit

/// Martlet's workers, looked at from outside: from the moment when the warm-up's results were there until all were.
struct WorkerSample {
    /// How long one may take.
    private static let secondsMax = 600

    let options: EndToEndOptions
    let stage: WorkerStage

    /// With `warmUp` and `messages` of them in the queue.
    func measure() async throws -> Measurement {
        var workers: [ChildProcess] = []
        for _ in 0..<options.workers { workers.append(try await stage.worker()) }
        let start = try await look(at: workers, until: options.warmUp)
        let end = try await look(at: workers, until: options.warmUp + options.messages)
        let peakBytes = workers.map(\.peakResidentBytes).reduce(0, +)
        for worker in workers { try await stage.end(worker) }
        let left = try await stage.desk.count(in: WorkerStage.requests)
        let told = try await stage.desk.count(in: WorkerStage.results)
        guard left == 0, told == options.warmUp + options.messages else {
            throw ProcessError("\(left) requests are left, and \(told) results were told")
        }
        let messages = Double(end.results - start.results)
        guard messages > 0 else { throw ProcessError("too few messages to measure anything") }
        // The kernel splits the time in ticks of 10 ms, but counts all of it exactly.
        let exact = (end.time - start.time).microseconds / messages
        let user = (end.userTime - start.userTime).microseconds
        let split = user + (end.systemTime - start.systemTime).microseconds
        let userShare = split > 0 ? user / split : 1
        return Measurement(
            messagesPerSecond: messages / ((end.at - start.at).microseconds / 1e6),
            userMicroseconds: exact * userShare, systemMicroseconds: exact * (1 - userShare),
            brokerMicroseconds: (end.brokerTime - start.brokerTime).microseconds / messages,
            simulatorMicroseconds: (end.simulatorTime - start.simulatorTime).microseconds / messages,
            peakMegabytes: Double(peakBytes) / 1e6)
    }

    private struct Look {
        let at: ContinuousClock.Instant
        let results: Int
        /// Of all workers.
        let time: Duration
        let userTime: Duration
        let systemTime: Duration
        let brokerTime: Duration
        let simulatorTime: Duration
    }

    /// Looks often until there are so many results.
    private func look(at workers: [ChildProcess], until count: Int) async throws -> Look {
        let deadline = ContinuousClock.now + .seconds(Self.secondsMax)
        while true {
            let results = try await stage.desk.count(in: WorkerStage.results)
            let look = Look(
                at: .now, results: results, time: workers.map(\.processorTime).reduce(.zero, +),
                userTime: workers.map(\.splitProcessorTime.user).reduce(.zero, +),
                systemTime: workers.map(\.splitProcessorTime.system).reduce(.zero, +),
                brokerTime: await stage.broker.processorTime(), simulatorTime: stage.simulator.processorTime)
            if results >= count { return look }
            guard workers.allSatisfy(\.isRunning), look.at < deadline else {
                throw ProcessError(
                    "\(results) of \(count) results: \(workers.flatMap { $0.errors.linesSoFar.suffix(5) })")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
