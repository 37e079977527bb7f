import CommandKit

struct GrowthOptions {
    private static let valuesMax = 20
    static let messages = 50_000
    static let samples = 3

    /// The options, of which only `setting` differs between the values.
    private(set) var work = EndToEndOptions()
    let setting: WorkSetting
    let values: [Int]
    /// The file for the charts; nil for no charts.
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
                throw UsageError("option \(setting.flag) must have at most \(Self.valuesMax) values")
            }
            if let growing {
                throw UsageError("only one setting can have several values: \(growing.setting.flag) or \(setting.flag)")
            }
            growing = (setting, values)
        }
        guard let growing else {
            throw UsageError("a setting with several values is missing, such as --in-flight 10,100,1000")
        }
        (setting, values) = growing
        let largest = values.max() ?? 0
        try work(at: largest).check()
        // Each key needs at least one app. The number of apps is the same for all numbers of keys.
        if setting == .keys { work.apps = max(work.apps, largest) }
        if setting == .apps, let least = values.min(), least < work.keys {
            throw UsageError("option --apps must be at least \(work.keys), the number of keys")
        }
    }

    /// The description of the work that is the same at each value.
    var description: String { work.description(without: setting) }

    func work(at value: Int) -> EndToEndOptions {
        var work = work
        work[keyPath: setting.path] = value
        return work
    }
}
