extension Int {
    /// Returns the number and a noun, such as `1 dead letter` or `2 dead letters`.
    ///
    /// - Parameter noun: The singular of a noun whose plural ends in `s`.
    public func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
