/// The end-to-end benchmark at each value of a setting.
struct Growth {
    static let programs: [BenchProgram] = [.baselineWorker, .martlet]

    private let options: GrowthOptions

    init(_ options: GrowthOptions) {
        self.options = options
    }

    /// Runs the benchmark at each value. Returns the report, and the error that ended the measurement early, if any.
    ///
    /// - Throws: An error if the measurement at the first value fails.
    func run() async throws -> (report: GrowthReport, failure: (any Error)?) {
        var report = GrowthReport(options: options)
        for value in options.values {
            MartletBench.log("\(options.setting.flag) \(value)")
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
