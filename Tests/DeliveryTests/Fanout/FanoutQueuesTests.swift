import APNSProtocol
import Registrations
import Testing

@testable import Delivery

/// The queue of device searches, and the limited places for chunks.
@Suite struct FanoutQueuesTests {
    private static func entry(_ number: Int, queries: Int) -> LookupQueue<Int>.Entry {
        let query = DeviceQuery(
            app: "com.example.app", environment: .sandbox, kind: .device, scope: nil, user: "\(number)")
        return LookupQueue.Entry(search: number, queries: Array(repeating: query, count: queries))
    }

    @Test func `A lookup answers as many searches as fit, in their order`() {
        var queue = LookupQueue<Int>()
        for number in 0..<3 { queue.append(Self.entry(number, queries: 30)) }
        #expect(queue.beginLookup()?.map(\.search) == [0, 1])
        #expect(queue.beginLookup()?.map(\.search) == [2])
        #expect(queue.beginLookup() == nil && queue.isEmpty)
    }

    @Test func `Few lookups are in flight, and searches accumulate meanwhile`() {
        var queue = LookupQueue<Int>()
        for number in 0..<DeviceLookup.lookupsInFlightMax {
            queue.append(Self.entry(number, queries: 1))
            #expect(queue.beginLookup()?.count == 1)
        }
        for number in 10..<20 { queue.append(Self.entry(number, queries: 1)) }
        #expect(queue.beginLookup() == nil)
        queue.endLookup()
        #expect(queue.beginLookup()?.map(\.search) == Array(10..<20))
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
