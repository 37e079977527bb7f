extension [String] {
    /// Removes the lines about a broker that responds after more than a second, as on a busy machine.
    public var withoutBrokerNotices: [String] {
        let starts = ["martlet: waiting for the broker", "martlet: broker connected after "]
        return filter { line in !starts.contains { line.hasPrefix($0) } }
    }
}
