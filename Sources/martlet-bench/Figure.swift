import JSON

/// A figure with its title in tables and its key in JSON.
struct Figure {
    let title: String
    let key: String
    let value: Double
    let places: Int

    /// The width of the figure's column, in characters.
    private var width: Int { max(Self.widthMin, title.count + Self.gap) }
    private static let widthMin = 9
    private static let gap = 3

    static func header(_ figures: [Figure]) -> String {
        figures.map { String(repeating: " ", count: $0.width - $0.title.count) + $0.title }.joined()
    }

    static func row(_ figures: [Figure]) -> String {
        figures.map { Figures.cell($0.value, places: $0.places, width: $0.width) }.joined()
    }
}

extension JSONWriter {
    mutating func figures(_ figures: [Figure]) {
        beginObject()
        for figure in figures { member(figure.key, figure.value, places: 3) }
        endObject()
    }
}

extension Measurement {
    func figures(by unit: Unit) -> [Figure] {
        var figures = [
            Figure(title: "requests/s", key: "\(unit)s_per_second", value: perSecond, places: 0),
            Figure(title: "CPU µs/request", key: "cpu_us_per_\(unit)", value: processorMicroseconds, places: 2),
            Figure(title: "user", key: "user_us_per_\(unit)", value: userMicroseconds, places: 2),
            Figure(title: "system", key: "system_us_per_\(unit)", value: systemMicroseconds, places: 2),
        ]
        figures += Peer.allCases.compactMap { peer in
            peerMicroseconds[peer].map {
                Figure(title: "\(peer)'s CPU", key: "\(peer)_us_per_\(unit)", value: $0, places: 2)
            }
        }
        figures.append(Figure(title: "peak MB", key: "peak_mb", value: peakMegabytes, places: 1))
        if let latency { figures += latency.figures }
        return figures
    }
}

extension Percentiles {
    var figures: [Figure] {
        [
            Figure(title: "p50 ms", key: "p50_ms", value: p50, places: 2),
            Figure(title: "p99 ms", key: "p99_ms", value: p99, places: 2),
            Figure(title: "p99.9 ms", key: "p999_ms", value: p999, places: 2),
        ]
    }
}
