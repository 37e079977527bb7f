extension String {
    /// - Parameter width: in columns of a terminal.
    public func padded(to width: Int) -> String {
        let missing = width - columns
        return missing > 0 ? self + String(repeating: " ", count: missing) : self
    }

    /// At most `width` columns of a terminal; what is cut is shown as `…`.
    public func shortened(to width: Int) -> String {
        guard columns > width else { return self }
        var left = width - 1
        let start = prefix {
            left -= $0.columns
            return left >= 0
        }
        return width > 0 ? start + "…" : ""
    }
}
