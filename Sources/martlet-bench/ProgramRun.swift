import TestKit

/// One run of a program that ends by itself after so much work, looked at from outside.
struct ProgramRun: Sendable {
    /// How long one may take.
    private static let secondsMax = 600

    let perSecond: Double
    let usage: ResourceUsage
    let peakBytes: Int
    var peerTimes: [Measurement.Peer: Duration] = [:]
    var latency: Percentiles?

    /// Runs a program that says `NAME: COUNT UNITS RATE …` at its end, as the baselines do.
    static func of(_ command: [String]) async throws -> ProgramRun {
        let program = try await ChildProcess(command)
        let (exit, peakBytes) = try await program.exitAndPeak(within: .seconds(secondsMax))
        let output = await program.output.allLines()
        let words = output.last?.split(separator: " ") ?? []
        guard exit.status == .exited(0), words.count > 3, let rate = Double(words[3]) else {
            throw ProcessError("\(program.name): \(output + program.errors.linesSoFar)")
        }
        return ProgramRun(
            perSecond: rate, usage: exit.usage, peakBytes: peakBytes, latency: Percentiles(words.dropFirst(5)))
    }

    init(perSecond: Double, usage: ResourceUsage, peakBytes: Int, latency: Percentiles? = nil) {
        (self.perSecond, self.usage, self.peakBytes, self.latency) = (perSecond, usage, peakBytes, latency)
    }

    /// Adds what others used while `run` did.
    static func watching(
        _ peerTimes: () async -> [Measurement.Peer: Duration], _ run: () async throws -> ProgramRun
    ) async throws -> ProgramRun {
        let before = await peerTimes()
        var result = try await run()
        result.peerTimes = await peerTimes().merging(before, uniquingKeysWith: -)
        return result
    }

    /// What each of `count` units cost.
    ///
    /// - Parameter warmUp: a run of so many units less: what both cost, such as to start and to connect, is left out.
    /// - Throws: when that costs nothing that could be told from chance.
    func measurement(of count: Int, beyond warmUp: ProgramRun?) throws(ProcessError) -> Measurement {
        func each(_ time: Duration, _ before: Duration?) -> Double {
            (time - (before ?? .zero)).microseconds / Double(count)
        }
        let exact = each(usage.time, warmUp?.usage.time)
        guard exact > 0 else { throw ProcessError("\(count) are too few to measure anything") }
        // Of few units a part may come out below nothing, as two runs never cost the same.
        let user = min(max(0, each(usage.userTime, warmUp?.usage.userTime)), exact)
        return Measurement(
            perSecond: perSecond, processorMicroseconds: exact, userMicroseconds: user,
            systemMicroseconds: exact - user,
            peerMicroseconds: Dictionary(
                uniqueKeysWithValues: peerTimes.map { ($0, each($1, warmUp?.peerTimes[$0])) }),
            peakMegabytes: Double(peakBytes) / 1e6, latency: latency)
    }
}

extension ResourceUsage {
    fileprivate var time: Duration { userTime + systemTime }
}
