import JSON

/// The pushes that a simulator recorded, by the ids of requests.
struct Pushes {
    struct Push {
        let status: Int
        /// When it came.
        let unixMilliseconds: Int64
    }

    private(set) var byID: [String: [Push]] = [:]

    init(_ record: [JSONDocument]) {
        for line in record {
            let push = Push(
                status: line.root["status"]?.int ?? 0,
                unixMilliseconds: line.root["unix_ms"]?.int.map { Int64($0) } ?? 0)
            byID[line.root["apns_id"]?.string ?? "-", default: []].append(push)
        }
    }

    subscript(sample: Sample) -> [Push] { byID[sample.id] ?? [] }

    /// How often APNs has taken the push of a sample.
    func taken(_ sample: Sample) -> Int { self[sample].count { $0.status == 200 } }

    /// Those of the samples that APNs has not taken exactly once.
    func notTakenOnce(_ samples: [Sample]) -> [String] { samples.filter { taken($0) != 1 }.map(\.id) }
}
