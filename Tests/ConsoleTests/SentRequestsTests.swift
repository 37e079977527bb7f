import Crypto
import Testing

@testable import Console

struct SentRequestsTests {
    private static func ids(_ range: Range<Int>) -> [UUIDValue] {
        range.map { UUIDValue(high: 1, low: UInt64($0)) }
    }

    /// Looks up requests, of which the first ones have failed.
    private static func read(_ requests: inout SentRequests, failed: Int, accepted: Int) {
        let ids = requests.beginReading()
        var found: [UUIDValue: Bool] = [:]
        for id in ids.prefix(failed) { found[id] = false }
        for id in ids.dropFirst(failed).prefix(accepted) { found[id] = true }
        requests.endReading(found)
    }

    @Test func `A share of failures above the maximum counts from the twentieth result on`() {
        var requests = SentRequests(percentMax: 20)
        for id in Self.ids(0..<50) { requests.add(id) }
        Self.read(&requests, failed: 19, accepted: 0)
        #expect(requests.results == 19 && !requests.isAboveMax)
        Self.read(&requests, failed: 1, accepted: 0)
        #expect(requests.results == 20 && requests.isAboveMax)
    }

    @Test func `The maximum itself is permitted`() {
        var requests = SentRequests(percentMax: 20)
        for id in Self.ids(0..<50) { requests.add(id) }
        Self.read(&requests, failed: 5, accepted: 20)
        #expect(!requests.isAboveMax)
        Self.read(&requests, failed: 1, accepted: 0)
        #expect(requests.failures == 6 && requests.isAboveMax)
    }

    @Test func `Requests without a result are looked up again after the others`() {
        var requests = SentRequests(percentMax: 20)
        let count = SentRequests.readingMax + 1
        for id in Self.ids(0..<count) { requests.add(id) }
        #expect(requests.beginReading() == Self.ids(0..<SentRequests.readingMax))
        requests.endReading([:])
        #expect(requests.beginReading().prefix(2) == [Self.ids(0..<count)[count - 1], Self.ids(0..<1)[0]])
    }

    @Test func `The number of awaited results has a limit`() {
        var requests = SentRequests(percentMax: 20)
        for id in Self.ids(0..<SentRequests.pendingMax + 10) { requests.add(id) }
        var seen: Set<UUIDValue> = []
        while true {
            let ids = requests.beginReading()
            if ids.isEmpty { break }
            seen.formUnion(ids)
            requests.endReading([UUIDValue: Bool](uniqueKeysWithValues: ids.map { ($0, true) }))
        }
        #expect(seen.count == SentRequests.pendingMax && requests.results == SentRequests.pendingMax)
    }
}
