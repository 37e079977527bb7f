extension String {
    /// Returns the text with trailing spaces up to `width` terminal columns.
    public func padded(to width: Int) -> String {
        let missing = width - columns
        return missing > 0 ? self + String(repeating: " ", count: missing) : self
    }

    /// Returns the text cut to `width` terminal columns. A cut text ends in `…`.
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
