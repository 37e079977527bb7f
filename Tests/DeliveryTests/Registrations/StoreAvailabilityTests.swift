import EventLoop
import Registrations
import Testing

@testable import Delivery

@Suite struct StoreAvailabilityTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private static let full = StoreFault(.refused, "the disk is full", errorClass: "53")
    private static let away = StoreFault(.unreachable, "no connection")

    private func available() -> StoreAvailability {
        var availability = StoreAvailability()
        availability.writerChanged(nil)
        return availability
    }

    @Test func `The store accepts work when its writer is ready`() {
        var availability = StoreAvailability()
        #expect(!availability.acceptsWork && availability.fault == nil)
        availability.writerChanged(nil)
        #expect(availability.acceptsWork)
        availability.writerChanged(Self.away)
        #expect(!availability.acceptsWork && availability.fault == Self.away && availability.retryAt == nil)
        availability.writerChanged(nil)
        #expect(availability.acceptsWork && availability.fault == nil)
    }

    @Test func `Work that fails is tried again with growing delays`() {
        var availability = available()
        var now = Self.start
        var delays: [Int64] = []
        for _ in 0..<7 {
            availability.failed(Self.full, now: now)
            guard let retryAt = availability.retryAt else { return #expect(Bool(false)) }
            delays.append(now.duration(to: retryAt).components.seconds)
            availability.retry(now: now)
            #expect(!availability.acceptsWork)
            now = retryAt
            availability.retry(now: now)
            #expect(availability.acceptsWork && availability.fault == Self.full)
        }
        #expect(delays == [1, 2, 4, 8, 16, 30, 30])
        availability.succeeded()
        #expect(availability.acceptsWork && availability.fault == nil)
        availability.failed(Self.full, now: now)
        #expect(availability.retryAt == now + .milliseconds(StoreAvailability.retryMilliseconds))
    }

    @Test func `Further failures do not postpone the next trial`() {
        var availability = available()
        availability.failed(Self.full, now: Self.start)
        let retryAt = availability.retryAt
        availability.failed(Self.away, now: Self.start + .milliseconds(900))
        #expect(availability.retryAt == retryAt && availability.fault == Self.full)
    }

    @Test func `A lost connection ends the trials`() {
        var availability = available()
        availability.failed(Self.full, now: Self.start)
        availability.writerChanged(Self.away)
        availability.retry(now: Self.start + .seconds(100))
        availability.failed(Self.full, now: Self.start)
        availability.succeeded()
        #expect(!availability.acceptsWork && availability.fault == Self.away)
    }
}
