import CommandKit

/// What the command line asks for.
struct GrowthOptions {
    private static let valuesMax = 20
    static let messages = 50_000
    static let samples = 3

    /// With what stays the same at each value.
    private(set) var work = EndToEndOptions()
    let setting: WorkSetting
    let values: [Int]
    /// Where the picture goes.
    private(set) var plot: String?

    init(_ parsed: ParsedArguments) throws(UsageError) {
        (work.messages, work.samples) = (Self.messages, Self.samples)
        try work.read(parsed, quick: (messages: 2000, warmUp: 200))
        plot = parsed.options["plot"]
        var growing: (setting: WorkSetting, values: [Int])?
        for setting in WorkSetting.allCases {
            guard let values = try parsed.integers(setting.rawValue, in: setting.range) else { continue }
            work[keyPath: setting.path] = values[0]
            guard values.count > 1 else { continue }
            guard values.count <= Self.valuesMax else {
                throw UsageError("option \(setting.flag) takes \(Self.valuesMax) values at most")
            }
            if let growing {
                throw UsageError("only one setting can have several values: \(growing.setting.flag) or \(setting.flag)")
            }
            growing = (setting, values)
        }
        guard let growing else {
            throw UsageError("over which setting? Give one of them several values: --in-flight 10,100,1000")
        }
        (setting, values) = growing
        let largest = values.max() ?? 0
        try work(at: largest).check()
        // Each key has an app at least: over keys the apps stay as many as there are keys in the end.
        if setting == .keys { work.apps = max(work.apps, largest) }
        if setting == .apps, let least = values.min(), least < work.keys {
            throw UsageError("\(work.keys) keys want as many apps, or more")
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
