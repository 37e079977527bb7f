/// The number of instructions per request, by module, either measured or accepted.
public struct InstructionCount: Equatable, Sendable {
    /// The allowed increase over the accepted count, in percent.
    public static let growthPercentMax = 1
    /// The allowed increase with many apps over the count with one app, in percent.
    public static let growthPercentMaxOfApps = 8

    public let byModule: [String: Int]

    public var total: Int { byModule.values.reduce(0, +) }

    /// Returns the maximum number of instructions per request if this count is the accepted count.
    public func ceiling(growthPercentMax: Int = growthPercentMax) -> Int { total * (100 + growthPercentMax) / 100 }

    /// The modules by descending count.
    public var modules: [String] {
        byModule.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    }

    public init(_ profile: CallgrindProfile, messages: Int) {
        byModule = profile.byModule.mapValues { ($0 + messages / 2) / messages }
    }

    /// Parses a count.
    ///
    /// - Parameter lines: Instructions and module, such as `18655 libnghttp2`. Lines that start with `#` are comments.
    /// - Throws: `ProcessError` if a line has another format.
    public init(lines: [String]) throws(ProcessError) {
        var byModule: [String: Int] = [:]
        for line in lines where !line.hasPrefix("#") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let count = Int(words[0]) else {
                throw ProcessError("a line must be a number of instructions and a module: \(line)")
            }
            byModule[String(words[1])] = count
        }
        self.byModule = byModule
    }

    /// The lines that `init(lines:)` reads.
    public var lines: [String] { modules.map { "\(byModule[$0] ?? 0) \($0)" } }

    /// Returns an error message that names the module with the largest increase; nil if the count is within the limit.
    public func limitViolation(accepted: InstructionCount, growthPercentMax: Int = growthPercentMax) -> String? {
        let ceiling = accepted.ceiling(growthPercentMax: growthPercentMax)
        guard total > ceiling else { return nil }
        func growth(_ module: String) -> Int { (byModule[module] ?? 0) - (accepted.byModule[module] ?? 0) }
        let grown = Set(byModule.keys).union(accepted.byModule.keys).sorted().max { growth($0) < growth($1) } ?? ""
        return """
            \(total) instructions per request exceed the limit of \(ceiling) \
            (\(accepted.total) accepted plus \(growthPercentMax) %); largest increase: \(grown), from \
            \(accepted.byModule[grown] ?? 0) to \(byModule[grown] ?? 0)
            """
    }
}
