package enum Age {
    /// Returns the milliseconds since `begin`; nil if `begin` is nil or in the future, or if the difference overflows.
    /// Other machines may have set `begin`.
    package static func milliseconds(since begin: Int64?, at nowUnixMilliseconds: Int64) -> Int64? {
        guard let begin else { return nil }
        let (age, overflow) = nowUnixMilliseconds.subtractingReportingOverflow(begin)
        return overflow || age < 0 ? nil : age
    }
}
