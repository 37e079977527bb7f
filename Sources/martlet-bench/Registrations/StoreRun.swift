import TestKit

/// The rate and cost of a client of a store.
struct StoreRun: Sendable {
    /// The time limit of a client beyond its measured time.
    private static let secondsMax = 600

    /// Completed units per second.
    var perSecond: Double
    /// The client's processor time in microseconds per unit; nil if it is unknown.
    var microseconds: Double?

    init(perSecond: Double, microseconds: Double? = nil) {
        (self.perSecond, self.microseconds) = (perSecond, microseconds)
    }

    /// Runs a client whose last line of output is `NAME: COUNT done RATE /s cpu TIME us`.
    ///
    /// - Parameter seconds: The measured time.
    static func running(_ command: [String], seconds: Int) async throws -> StoreRun {
        let (exit, output, errors) = try await ChildProcess.run(command, within: .seconds(seconds + secondsMax))
        let words = output.last?.split(separator: " ") ?? []
        guard exit.status == .exited(0), words.count == 8, let rate = Double(words[3]), let cost = Double(words[6])
        else { throw ProcessError("cannot measure \(command[0]): \(output + errors)") }
        return StoreRun(perSecond: rate, microseconds: cost)
    }

    /// Returns the median of each figure.
    static func median(_ samples: [StoreRun]) -> StoreRun {
        let costs = samples.compactMap(\.microseconds)
        return StoreRun(
            perSecond: Figures.median(samples.map(\.perSecond)),
            microseconds: costs.isEmpty ? nil : Figures.median(costs))
    }

    func figures(by unit: String) -> [Figure] {
        [Figure(title: "\(unit)s/s", key: "\(unit)s_per_second", value: perSecond, places: 0)]
            + (microseconds.map {
                [Figure(title: "CPU µs/\(unit)", key: "cpu_us_per_\(unit)", value: $0, places: 2)]
            } ?? [])
    }
}

/// The runs of several programs, in alternation.
struct StoreRuns {
    /// A program and the function that runs it.
    typealias Program = (name: String, run: () async throws -> StoreRun)

    private var samples: [String: [StoreRun]] = [:]

    /// Runs each program `count` times.
    init(_ count: Int, of unit: String, _ programs: [Program]) async throws {
        for sample in 1...count {
            for (name, run) in programs {
                let result = try await run()
                samples[name, default: []].append(result)
                MartletBench.log("\(sample)/\(count)  \(RegistrationsReport.line(name, result.figures(by: unit)))")
            }
        }
    }

    subscript(name: String) -> StoreRun { .median(samples[name] ?? []) }
}
