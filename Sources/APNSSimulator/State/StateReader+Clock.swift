import JSON

extension Members {
    /// How far a clock can be off: ten years.
    private static let offsetSecondsMax = 315_576_000.0

    /// How far a clock is ahead; nil when the object does not say.
    func clockOffset(_ name: String) throws(InputError) -> Duration? {
        try number(name, -Self.offsetSecondsMax...Self.offsetSecondsMax).map {
            .nanoseconds(Int64($0 * 1_000_000_000))
        }
    }
}
