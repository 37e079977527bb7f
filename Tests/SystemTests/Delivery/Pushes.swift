import JSON

/// The pushes that a simulator recorded, by request ID.
struct Pushes {
    struct Push {
        let status: Int
        /// The time of arrival at the simulator.
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

    /// Returns the number of pushes of a sample that APNs accepted.
    func acceptedCount(of sample: Sample) -> Int { self[sample].count { $0.status == 200 } }

    /// Returns the IDs of the samples that APNs did not accept exactly once.
    func notAcceptedOnce(_ samples: [Sample]) -> [String] { samples.filter { acceptedCount(of: $0) != 1 }.map(\.id) }
}
