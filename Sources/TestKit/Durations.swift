extension [Duration] {
    /// The time within which 99 of a hundred are.
    public var p99: Duration { sorted().dropLast(count / 100).last ?? .zero }

    public var median: Duration { isEmpty ? .zero : sorted()[count / 2] }
}
