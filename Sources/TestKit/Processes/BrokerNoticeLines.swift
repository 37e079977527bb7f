extension [String] {
    /// The lines without the notices that a command prints if the broker takes longer than a second to respond.
    public var withoutBrokerNotices: [String] {
        let starts = ["martlet: waiting for the broker", "martlet: broker connected after "]
        return filter { line in !starts.contains { line.hasPrefix($0) } }
    }
}
