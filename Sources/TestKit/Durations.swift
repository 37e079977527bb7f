extension [Duration] {
    /// The 99th percentile; zero for an empty array.
    public var p99: Duration { sorted().dropLast(count / 100).last ?? .zero }

    public var median: Duration { isEmpty ? .zero : sorted()[count / 2] }
}
