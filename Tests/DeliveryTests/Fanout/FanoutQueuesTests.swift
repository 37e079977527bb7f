import APNSProtocol
import Registrations
import Testing

@testable import Delivery

/// The queue of device searches, and the limited places for chunks.
@Suite struct FanoutQueuesTests {
    private static func query(_ number: Int) -> DeviceQuery {
        DeviceQuery(app: "com.example.app", environment: .sandbox, kind: .device, scope: nil, user: "\(number)")
    }

    @Test func `A lookup answers as many searches as fit, in their order`() {
        var queue = LookupQueue<Int>()
        for number in 0..<3 { queue.append(number, Array(repeating: Self.query(number), count: 30)) }
        queue.append(3, Self.query(3))
        let first = queue.beginLookup()
        #expect(first?.entries.map(\.search) == [0, 1])
        #expect(first?.queries.map(\.user) == Array(repeating: "0", count: 30) + Array(repeating: "1", count: 30))
        let second = queue.beginLookup()
        #expect(second?.entries.map(\.queryCount) == [30, 1])
        #expect(second?.queries.map(\.user) == Array(repeating: "2", count: 30) + ["3"])
        #expect(queue.beginLookup() == nil && queue.isEmpty)
    }

    @Test func `A removed search takes its queries with it`() {
        var queue = LookupQueue<Int>()
        queue.append(0, [Self.query(0), Self.query(0)])
        queue.append(1, Self.query(1))
        #expect(queue.popFirst() == 0)
        #expect(queue.beginLookup()?.queries.map(\.user) == ["1"])
        #expect(queue.popFirst() == nil)
    }

    @Test func `Few lookups are in flight, and searches accumulate meanwhile`() {
        var queue = LookupQueue<Int>()
        for number in 0..<DeviceLookup.lookupsInFlightMax {
            queue.append(number, Self.query(number))
            #expect(queue.beginLookup()?.entries.count == 1)
        }
        for number in 10..<20 { queue.append(number, Self.query(number)) }
        #expect(queue.beginLookup() == nil)
        queue.endLookup()
        #expect(queue.beginLookup()?.entries.map(\.search) == Array(10..<20))
    }

    @Test func `A released place goes to the first waiter`() {
        var places = ChunkPlaces<Int>()
        let taken = (0..<ChunkPlaces<Int>.placesMax + 2).map { places.take(orWait: $0) }
        #expect(taken == Array(repeating: true, count: ChunkPlaces<Int>.placesMax) + [false, false])
        #expect(places.release() == ChunkPlaces<Int>.placesMax)
        #expect(places.popWaiter() == ChunkPlaces<Int>.placesMax + 1)
        #expect(places.release() == nil)
        let isTaken = places.take(orWait: 100)
        #expect(isTaken)
    }
}
