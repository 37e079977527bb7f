/// Measures end to end at one value of a setting after the other.
struct Growth {
    static let programs: [BenchProgram] = [.baselineWorker, .martlet]

    private let options: GrowthOptions

    init(_ options: GrowthOptions) {
        self.options = options
    }

    /// What was measured until something failed, if it did, and what that was.
    func run() async throws -> (report: GrowthReport, failure: (any Error)?) {
        var report = GrowthReport(options: options)
        for value in options.values {
            MartletBench.note("\(options.setting.flag) \(value)")
            do {
                report.steps.append((value, try await EndToEnd(options.work(at: value)).run(Self.programs)))
            } catch {
                guard !report.steps.isEmpty else { throw error }
                return (report, error)
            }
        }
        return (report, nil)
    }
}
