package enum Age {
    /// Milliseconds since a time that others wrote; nil when that is not told or lies ahead.
    package static func milliseconds(since begin: Int64?, at nowUnixMilliseconds: Int64) -> Int64? {
        guard let begin else { return nil }
        let (age, overflow) = nowUnixMilliseconds.subtractingReportingOverflow(begin)
        return overflow || age < 0 ? nil : age
    }
}
