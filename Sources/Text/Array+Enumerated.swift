extension [String] {
    /// Returns the joined elements, such as `a, b or c`.
    ///
    /// - Parameter conjunction: The word before the last element.
    public func enumerated(with conjunction: String) -> String {
        guard let last, count > 1 else { return first ?? "" }
        return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }
}
