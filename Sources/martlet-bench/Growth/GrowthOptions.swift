/// What the command line asks for.
struct GrowthOptions {
    private static let valuesMax = 20

    /// With what stays the same at each value.
    private(set) var work = EndToEndOptions()
    let setting: WorkSetting
    let values: [Int]
    /// Where the picture goes.
    private(set) var plot: String?

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        (work.messages, work.samples) = (50_000, 3)
        var arguments = Arguments(arguments)
        var growing: (setting: WorkSetting, values: [Int])?
        while let argument = arguments.next() {
            if let setting = WorkSetting(rawValue: argument) {
                let values = try arguments.numbers(for: argument, in: setting.range)
                work[keyPath: setting.path] = values[0]
                guard values.count > 1 else { continue }
                guard values.count <= Self.valuesMax else {
                    throw UsageError(message: "\(argument) wants \(Self.valuesMax) values at most")
                }
                if let other = growing?.setting, other != setting {
                    throw UsageError(
                        message: "only one setting can have several values: \(other.rawValue) or \(argument)")
                }
                growing = (setting, values)
            } else if argument == "--plot" {
                plot = try arguments.text(for: argument)
            } else if argument == "--quick" {
                (work.messages, work.samples, work.warmUp) = (2000, 1, 200)
            } else {
                try work.read(argument, &arguments)
            }
        }
        guard let growing else {
            throw UsageError(message: "over which setting? Give one of them several values: --in-flight 10,100,1000")
        }
        (setting, values) = growing
        let largest = values.max() ?? 0
        try work(at: largest).check()
        // Each key has an app at least: over keys the apps stay as many as there are keys in the end.
        if setting == .keys { work.apps = max(work.apps, largest) }
        if setting == .apps, let least = values.min(), least < work.keys {
            throw UsageError(message: "\(work.keys) keys want as many apps, or more")
        }
    }

    /// What stays the same.
    var description: String { work.description(without: setting) }

    func work(at value: Int) -> EndToEndOptions {
        var work = work
        work[keyPath: setting.path] = value
        return work
    }
}
