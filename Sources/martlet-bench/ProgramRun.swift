import TestKit

/// The rate and the resource usage of a program that exits after a given amount of work.
struct ProgramRun: Sendable {
    /// The time limit of a run.
    private static let secondsMax = 600

    let perSecond: Double
    let usage: ResourceUsage
    let peakBytes: Int
    var peerTimes: [Measurement.Peer: Duration] = [:]
    var latency: Percentiles?

    /// Runs a program whose last line of output is `NAME: COUNT UNITS RATE …`, such as a baseline.
    static func running(_ command: [String]) async throws -> ProgramRun {
        let program = try await ChildProcess(command)
        let (exit, peakBytes) = try await program.exitAndPeak(within: .seconds(secondsMax))
        let output = await program.output.allLines()
        let words = output.last?.split(separator: " ") ?? []
        guard exit.status == .exited(0), words.count > 3, let rate = Double(words[3]) else {
            throw ProcessError("cannot measure \(program.name): \(output + program.errors.linesSoFar)")
        }
        return ProgramRun(
            perSecond: rate, usage: exit.usage, peakBytes: peakBytes, latency: Percentiles(words.dropFirst(5)))
    }

    init(perSecond: Double, usage: ResourceUsage, peakBytes: Int, latency: Percentiles? = nil) {
        (self.perSecond, self.usage, self.peakBytes, self.latency) = (perSecond, usage, peakBytes, latency)
    }

    /// Returns the result of `run`, with the processor time that the peers used during `run`.
    static func measuringPeers(
        _ peerTimes: () async -> [Measurement.Peer: Duration], _ run: () async throws -> ProgramRun
    ) async throws -> ProgramRun {
        let before = await peerTimes()
        var result = try await run()
        result.peerTimes = await peerTimes().merging(before, uniquingKeysWith: -)
        return result
    }

    /// Returns the figures of the run, with the cost per unit.
    ///
    /// - Parameter warmUp: A run of `count` fewer units, whose cost is subtracted; nil to subtract nothing.
    /// - Throws: `ProcessError` if the difference is not positive because of too few units.
    func measurement(of count: Int, beyond warmUp: ProgramRun?) throws(ProcessError) -> Measurement {
        func each(_ time: Duration, _ before: Duration?) -> Double {
            (time - (before ?? .zero)).microseconds / Double(count)
        }
        let exact = each(usage.time, warmUp?.usage.time)
        guard exact > 0 else { throw ProcessError("cannot measure \(count) units: too few units") }
        // With few units, the variation between runs can make a part negative.
        let user = min(max(0, each(usage.userTime, warmUp?.usage.userTime)), exact)
        return Measurement(
            perSecond: perSecond, processorMicroseconds: exact, userMicroseconds: user,
            systemMicroseconds: exact - user,
            peerMicroseconds: Dictionary(
                uniqueKeysWithValues: peerTimes.map { ($0, each($1, warmUp?.peerTimes[$0])) }),
            peakMegabytes: Double(peakBytes) / 1e6, latency: latency)
    }
}
