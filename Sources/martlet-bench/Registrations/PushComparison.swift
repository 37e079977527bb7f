import TestKit

/// The measurements of workers that push to users, beside pushes to device tokens by the same worker.
struct PushComparison {
    /// The recipients of requests.
    enum Target: String, CaseIterable {
        case token
        case user
        case octet

        /// Returns the users of the requests; nil if the requests go to tokens.
        ///
        /// - Parameter pairs: The number of users with two devices.
        func users(pairs: Int) -> UserGroup? {
            switch self {
            case .token: nil
            case .user: .single(pairs: pairs)
            case .octet: .octet(pairs: pairs)
            }
        }
    }

    /// The rate of the measurement of latencies, in requests per second.
    private static let rate = 500
    /// The number of measured requests per request of the warm-up.
    private static let warmUpShare = 10

    let options: RegistrationsOptions
    let store: String
    let fixture: WorkerFixture
    /// Whether the goals apply. The work of an embedded store would count as that of the worker.
    let hasGoals: Bool
    private var samples: [Target: [Measurement]] = [:]
    private var latencies: [Target: [Percentiles]] = [:]
    /// The number of samples so far, which distinguishes the IDs of their requests.
    private var rounds = 0

    /// Creates a comparison.
    ///
    /// - Parameter store: The name of the store, for reports.
    init(_ options: RegistrationsOptions, _ store: String, _ fixture: WorkerFixture, hasGoals: Bool) {
        (self.options, self.store, self.fixture, self.hasGoals) = (options, store, fixture, hasGoals)
    }

    /// Measures rate and processor time.
    mutating func measureRates() async throws {
        for sample in 1...options.samples {
            for target in Target.allCases {
                let measurement = try await measure(target)
                samples[target, default: []].append(measurement)
                log(sample, target, measurement.figures(by: .request))
            }
        }
    }

    private mutating func measure(_ target: Target) async throws -> Measurement {
        let devices = target.users(pairs: options.users)?.devices ?? 1
        var work = EndToEndOptions()
        work.messages = options.messages / devices
        work.warmUp = work.messages / Self.warmUpShare
        let sample = WorkerSample(options: work, fixture: fixture, devices: devices)
        try await fixture.refill(sample.total, nextMessage(to: target))
        return try await sample.measure()
    }

    /// Measures latencies at a constant rate. The test client must collect the results.
    mutating func measureLatencies() async throws {
        for sample in 1...options.samples {
            for target in [Target.token, .user] {
                let load = PacedLoad(
                    fixture: fixture, rate: Self.rate, seconds: options.seconds, message: nextMessage(to: target))
                let latency = try await load.measure(.martlet).latency
                latencies[target, default: []].append(latency)
                log(sample, target, latency.figures)
            }
        }
    }

    private mutating func nextMessage(to target: Target) -> BenchMessage {
        rounds += 1
        return BenchMessage(round: rounds, users: target.users(pairs: options.users))
    }

    private func log(_ sample: Int, _ target: Target, _ figures: [Figure]) {
        MartletBench.log("\(sample)/\(options.samples)  \(RegistrationsReport.line("\(store), \(target)", figures))")
    }

    func add(to report: inout RegistrationsReport) {
        var section = RegistrationsReport.Section("pushes, \(store)", "pushes_\(store.lowercased())")
        section.rows = Target.allCases.map { target in
            (target.rawValue, median(target).figures(by: .request) + (latency(target)?.figures ?? []))
        }
        report.sections.append(section)
        guard hasGoals else { return }
        let (token, user) = (median(.token), median(.user))
        let perDevice = median(.octet).processorMicroseconds / Double(UserGroup.octet(pairs: options.users).devices)
        report.goals += [
            Goal(
                "3. push to a user, times the CPU of a push to a token",
                user.processorMicroseconds / token.processorMicroseconds, .atMost(1.15)),
            Goal("3. push to a user, times the rate", user.perSecond / token.perSecond, .atLeast(0.9)),
            Goal(
                "3. push to a user, p50 ms more at \(Self.rate)/s",
                (latency(.user)?.p50 ?? 0) - (latency(.token)?.p50 ?? 0), .atMost(0.5)),
            Goal(
                "4. eight devices, times the CPU of a push, for each device", perDevice / token.processorMicroseconds,
                .atMost(1.8)),
        ]
    }

    private func median(_ target: Target) -> Measurement { .median(samples[target] ?? []) }

    private func latency(_ target: Target) -> Percentiles? { latencies[target].map { Percentiles(medianOf: $0) } }
}
