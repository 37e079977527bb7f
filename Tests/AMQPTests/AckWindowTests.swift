import AMQP
import EventLoop
import Testing

@Suite struct AckWindowTests {
    private static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(milliseconds) * 1_000_000)
    }

    /// Returns a window with deliveries 1 to `count`.
    private static func window(_ count: UInt64, expected: Int = 100) -> AckWindow {
        var window = AckWindow(expected: expected, delayMax: .milliseconds(250))
        for tag in 1...count { expect(window.delivered(tag)) }
        return window
    }

    private static func decide(_ window: inout AckWindow, at milliseconds: Int = 0) -> [AckWindow.Ack] {
        window.decide(now: time(milliseconds))
        defer { window.acks = [] }
        return window.acks
    }

    @Test func unacknowledgedDeliveriesAreCountedUntilTheAcknowledgmentIsSent() {
        var window = Self.window(5)
        #expect(window.nextTag == 6)
        for tag: UInt64 in [2, 4] { expect(window.acknowledge(tag, now: Self.time(0))) }
        expect(window.settle(5))
        #expect(window.openCount == 2)
        #expect(window.unacknowledgedCount == 4)
        #expect(window.unacknowledgedCount(from: 3) == 2)
        #expect(window.unacknowledgedCount(from: 6) == 0)
        #expect(Self.decide(&window, at: 250).count == 2)
        #expect(window.unacknowledgedCount == 2)
        #expect(window.unacknowledgedCount(from: 2) == 1)
    }

    // The window has fewer slots than deliveries.
    @Test func deliveriesWithoutASlotAreCounted() {
        var window = Self.window(1000, expected: 1)
        #expect(window.unacknowledgedCount == 1000)
        #expect(window.unacknowledgedCount(from: 11) == 990)
        expect(window.acknowledge(1, now: Self.time(0)))
        expect(window.acknowledge(20, now: Self.time(0)))
        #expect(window.unacknowledgedCount == 1000)
        #expect(window.unacknowledgedCount(from: 11) == 990)
        #expect(Self.decide(&window).count == 2)
        #expect(window.unacknowledgedCount(from: 11) == 989)
    }

    @Test func deliveriesSettledInOrderBecomeOneAcknowledgment() {
        var window = Self.window(5)
        for tag in UInt64(1)...4 { expect(window.acknowledge(tag, now: Self.time(0))) }
        #expect(Self.decide(&window) == [.init(tag: 4, multiple: true)])
        expect(window.acknowledge(5, now: Self.time(0)))
        #expect(Self.decide(&window) == [.init(tag: 5, multiple: false)])
        #expect(window.openCount == 0)
        #expect(window.deadline == nil)
    }

    @Test func aDeliveryBehindAnOpenOneWaitsForItOrForTheDelay() {
        var window = Self.window(4)
        expect(window.acknowledge(2, now: Self.time(10)))
        #expect(Self.decide(&window, at: 10) == [])
        #expect(window.deadline == Self.time(260))
        // The acknowledgment of delivery 3 does not extend the wait of delivery 2.
        expect(window.acknowledge(3, now: Self.time(200)))
        #expect(window.deadline == Self.time(260))
        #expect(Self.decide(&window, at: 259) == [])
        #expect(Self.decide(&window, at: 260) == [.init(tag: 2, multiple: false), .init(tag: 3, multiple: false)])
        #expect(window.deadline == nil)
        expect(window.acknowledge(1, now: Self.time(300)))
        expect(window.acknowledge(4, now: Self.time(300)))
        // Delivery 2 is already acknowledged. A `multiple` acknowledgment of delivery 4 also covers delivery 1. The
        // acknowledgment is valid, because delivery 4 is unacknowledged at the broker.
        #expect(Self.decide(&window, at: 300) == [.init(tag: 4, multiple: true)])
    }

    @Test func manyDeliveriesBehindAnOpenOneAreAcknowledgedIndividually() {
        var window = Self.window(10, expected: 12)
        #expect(window.doneBehindMax == 3)
        expect(window.acknowledge(3, now: Self.time(0)))
        expect(window.acknowledge(5, now: Self.time(0)))
        #expect(Self.decide(&window) == [])
        expect(window.acknowledge(4, now: Self.time(0)))
        #expect(
            Self.decide(&window) == [3, 4, 5].map { AckWindow.Ack(tag: $0, multiple: false) })
    }

    @Test func withASmallPrefetchOneDeliveryBehindAnOpenOneIsEnough() {
        var window = Self.window(3, expected: 3)
        expect(window.acknowledge(2, now: Self.time(0)))
        #expect(Self.decide(&window) == [.init(tag: 2, multiple: false)])
    }

    @Test func rejectedDeliveriesAreNotAcknowledged() {
        var window = Self.window(3)
        expect(window.settle(3))
        expect(window.acknowledge(1, now: Self.time(0)))
        expect(window.acknowledge(2, now: Self.time(0)))
        #expect(Self.decide(&window) == [.init(tag: 2, multiple: true)])
        expect(!window.settle(3))
        expect(!window.acknowledge(3, now: Self.time(0)))
        expect(!window.acknowledge(4, now: Self.time(0)))
        expect(!window.acknowledge(0, now: Self.time(0)))
    }

    // With 512 deliveries, every slot is in use.
    @Test(arguments: [3, 512]) func undeliveredTagsAreRefused(count: UInt64) {
        var window = Self.window(count)
        for tag in count + 1...5000 {
            expect(!window.isOpen(tag) && !window.settle(tag) && !window.acknowledge(tag, now: Self.time(0)))
        }
        #expect(window.openCount == Int(count))
    }

    @Test func aGapInTheTagsIsRefused() {
        var window = Self.window(3)
        expect(!window.delivered(5))
        expect(!window.delivered(3))
        expect(window.delivered(4))
    }

    @Test func aDeliveryThatStaysOpenBlocksNoOthersAndBoundsMemory() {
        var window = Self.window(1, expected: 16)
        var acknowledged = Set<UInt64>()
        for tag in UInt64(2)...20_000 {
            expect(window.delivered(tag))
            expect(window.acknowledge(tag, now: Self.time(0)))
            for ack in Self.decide(&window) {
                #expect(!ack.multiple)
                #expect(acknowledged.insert(ack.tag).inserted)
            }
        }
        #expect(window.openCount == 1)
        expect(window.acknowledge(1, now: Self.time(0)))
        for ack in Self.decide(&window, at: 1000) { acknowledged.insert(ack.tag) }
        #expect(acknowledged.count == 20_000)
        #expect(window.openCount == 0)
    }

    /// Compares the window with a model of the broker. A broker closes the channel on an invalid acknowledgment.
    @Test(arguments: 0..<50)
    func deliveriesAreAcknowledgedOnceInAnyOrder(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var window = AckWindow(expected: 20, delayMax: .milliseconds(250))
        var openAtBroker: [UInt64] = []
        var held: [UInt64] = []
        var next: UInt64 = 1
        var now = 0
        func apply(_ acks: [AckWindow.Ack]) {
            for ack in acks {
                #expect(openAtBroker.contains(ack.tag), "an acknowledgment has an unknown delivery tag (406)")
                let acknowledged = openAtBroker.filter { ack.multiple ? $0 <= ack.tag : $0 == ack.tag }
                for tag in acknowledged { #expect(!held.contains(tag), "a delivery was acknowledged while unsettled") }
                openAtBroker.removeAll { acknowledged.contains($0) }
            }
        }
        for _ in 0..<3000 {
            now += random.below(30)
            switch random.below(10) {
            case 0..<5 where held.count < 20:
                expect(window.delivered(next))
                openAtBroker.append(next)
                held.append(next)
                next += 1
            case 5..<8 where !held.isEmpty:
                // The oldest delivery is chosen a little more often than the other deliveries.
                let index = random.chance(percent: 5) ? 0 : random.below(held.count)
                expect(window.acknowledge(held.remove(at: index), now: Self.time(now)))
            case 8 where !held.isEmpty:
                let tag = held.remove(at: random.below(held.count))
                expect(window.settle(tag))
                #expect(openAtBroker.contains(tag))
                openAtBroker.removeAll { $0 == tag }
            default:
                apply(Self.decide(&window, at: now))
                #expect(openAtBroker.count <= 20 + window.doneBehindMax)
            }
            #expect(window.openCount == held.count)
        }
        for tag in held { expect(window.acknowledge(tag, now: Self.time(now))) }
        held = []
        apply(Self.decide(&window, at: now + 1000))
        #expect(openAtBroker.isEmpty)
    }

    @Test func onlyUnsettledDeliveriesAreOpen() {
        var window = Self.window(3)
        #expect((UInt64(0)...4).map { window.isOpen($0) } == [false, true, true, true, false])
        expect(window.settle(1))
        expect(window.acknowledge(2, now: Self.time(0)))
        #expect((UInt64(0)...4).map { window.isOpen($0) } == [false, false, false, true, false])
        _ = Self.decide(&window)
        #expect((UInt64(0)...4).map { window.isOpen($0) } == [false, false, false, true, false])
        // Delivery 3 moves from its slot to the list of deliveries without a slot when a later delivery needs the
        // slot.
        for tag in UInt64(4)...5000 {
            expect(window.delivered(tag))
            expect(window.acknowledge(tag, now: Self.time(0)))
            _ = Self.decide(&window)
        }
        #expect((UInt64(1)...5000).filter { window.isOpen($0) } == [3])
        expect(window.acknowledge(3, now: Self.time(0)))
        #expect(!window.isOpen(3))
    }

    @Test func deliveriesWithoutASlotAreSettledIndividually() {
        var window = Self.window(2)
        for tag in UInt64(3)...5000 {
            expect(window.delivered(tag))
            expect(window.acknowledge(tag, now: Self.time(0)))
            _ = Self.decide(&window)
        }
        expect(window.acknowledge(2, now: Self.time(0)))
        #expect(Self.decide(&window).first == .init(tag: 2, multiple: false))
        #expect(window.isOpen(1))
        expect(window.settle(1))
        #expect(window.openCount == 0)
        expect(!window.settle(1))
    }
}
