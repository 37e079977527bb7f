/// Measures end to end at one value of a setting after the other.
struct Growth {
    static let programs: [BenchProgram] = [.floorWorker, .martlet]

    private let options: GrowthOptions

    init(_ options: GrowthOptions) {
        self.options = options
    }

    func run() async throws -> GrowthReport {
        var report = GrowthReport(options: options)
        for value in options.values {
            MartletBench.note("\(options.setting.rawValue) \(value)")
            report.steps.append((value, try await EndToEnd(options.work(at: value)).run(Self.programs)))
        }
        return report
    }
}
