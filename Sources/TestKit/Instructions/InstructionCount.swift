/// Instructions that a message costs, by module, as they were counted or as they were accepted.
public struct InstructionCount: Equatable, Sendable {
    /// Of what was accepted, more.
    public static let growthPercentMax = 1
    /// Of what the messages of one app cost, more for those of many.
    public static let growthPercentMaxOfApps = 7

    public let byModule: [String: Int]

    public var total: Int { byModule.values.reduce(0, +) }

    /// The most that a message may cost once this count is accepted.
    public func ceiling(growthPercentMax: Int = growthPercentMax) -> Int { total * (100 + growthPercentMax) / 100 }

    /// The costliest first.
    public var modules: [String] {
        byModule.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    }

    public init(_ profile: CallgrindProfile, messages: Int) {
        byModule = profile.byModule.mapValues { ($0 + messages / 2) / messages }
    }

    /// - Parameter lines: instructions and module, such as `18655 libnghttp2`; those after a `#` are for people.
    /// - Throws: `ProcessError` when a line says something else.
    public init(lines: [String]) throws(ProcessError) {
        var byModule: [String: Int] = [:]
        for line in lines where !line.hasPrefix("#") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let count = Int(words[0]) else {
                throw ProcessError("\(line) is not a number of instructions and a module")
            }
            byModule[String(words[1])] = count
        }
        self.byModule = byModule
    }

    /// As `init(lines:)` reads them.
    public var lines: [String] { modules.map { "\(byModule[$0] ?? 0) \($0)" } }

    /// What stands against this count, for whoever made it grow; nil when it is within the ceiling.
    public func objection(accepted: InstructionCount, growthPercentMax: Int = growthPercentMax) -> String? {
        let ceiling = accepted.ceiling(growthPercentMax: growthPercentMax)
        guard total > ceiling else { return nil }
        func growth(_ module: String) -> Int { (byModule[module] ?? 0) - (accepted.byModule[module] ?? 0) }
        let grown = Set(byModule.keys).union(accepted.byModule.keys).sorted().max { growth($0) < growth($1) } ?? ""
        return """
            a message costs \(total) instructions, and \(ceiling) at most were accepted \
            (\(accepted.total) and \(growthPercentMax) %); \(grown) grew most, from \
            \(accepted.byModule[grown] ?? 0) to \(byModule[grown] ?? 0)
            """
    }
}
