import EventLoop
import Testing

@testable import Delivery

/// A comparison of the table with a simple, slow model.
@Suite struct DuplicateTableTests {
    @Test(arguments: 1...8) func matchesAModelAfterRandomOperations(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = DuplicateTable(settledMax: 20)
        var model: [DeduplicationKey: Bool?] = [:]
        var order: [DeduplicationKey] = []
        let arrival = DuplicateCandidate(channel: DuplicateMemory.Channel(number: 0))
        // All keys share a few home slots at one end of the table, so that the keys collide.
        let homes = (0..<7 as Range<UInt64>).map { seed % 2 == 0 ? $0 : ~$0 & (1 << 58 - 1) }
        let keys = (0..<60).map { DeduplicationKey(high: UInt64($0), low: homes[$0 % 7] | UInt64($0 % 3) << 58) }
        for _ in 0..<3000 {
            let key = keys[random.below(keys.count)]
            switch (model[key], random.below(4)) {
            case (nil, _), (.some(.some), 0):
                table.begin(key, arrival)
                order.removeAll { $0 == key }
                model[key] = .some(nil)
            case (.some(nil), 0):
                table.forget(key)
                model[key] = nil
            case (.some(nil), _):
                let isAccepted = random.chance(percent: 50)
                table.settle(key, isAccepted: isAccepted, now: MonotonicTime(nanoseconds: 0))
                model[key] = isAccepted
                order.append(key)
            case (.some(.some), 1):
                table.forget(key)
                order.removeAll { $0 == key }
                model[key] = nil
            case (.some(.some), _):
                break
            }
            // A settled entry that began again or was forgotten leaves its place empty. The table may therefore
            // remember slightly fewer entries than fit.
            for key in keys {
                switch table.find(key) {
                case .nothing:
                    #expect(model[key] == nil || order.contains(key))
                    if model[key] != nil {
                        model[key] = nil
                        order.removeAll { $0 == key }
                    }
                case .delivering: #expect(model[key] == .some(nil))
                case .settled(let isAccepted, _, _, _): #expect(model[key] == .some(isAccepted))
                }
            }
            #expect(order.count <= 20)
        }
    }

    @Test func moreRequestsMayBeInFlightThanAreRemembered() {
        var table = DuplicateTable(settledMax: 20)
        let keys = (0..<2000 as Range<UInt64>).map { DeduplicationKey(high: $0, low: $0 &* 0x9e37_79b9_7f4a_7c15) }
        let arrival = DuplicateCandidate(channel: DuplicateMemory.Channel(number: 0))
        for key in keys { table.begin(key, arrival) }
        #expect(keys.allSatisfy { table.find($0) != .nothing })
        for key in keys { table.forget(key) }
        #expect(keys.allSatisfy { table.find($0) == .nothing })
    }

    @Test func theLastSettledRequestsAreRemembered() {
        var table = DuplicateTable(settledMax: 20)
        for number in 0..<1000 as Range<UInt64> {
            let key = DeduplicationKey(high: number, low: number &* 0x9e37_79b9_7f4a_7c15)
            table.begin(key, DuplicateCandidate(channel: DuplicateMemory.Channel(number: 0)))
            table.settle(key, isAccepted: true, now: MonotonicTime(nanoseconds: 0))
            for other in 0...number {
                let found = table.find(DeduplicationKey(high: other, low: other &* 0x9e37_79b9_7f4a_7c15))
                #expect((found == .nothing) == (other + 20 <= number))
            }
        }
    }
}
