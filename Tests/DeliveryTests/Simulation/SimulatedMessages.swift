import Crypto
import EventLoop

/// The requests of a run, derived from its seed.
struct SimulatedMessages {
    static let publishedWithinMilliseconds = 480_000

    private(set) var all: [SimulatedMessage] = []
    private var random: SeededRandom

    private static let usual: [SimulatedMessage.Kind] = [.alert, .alert, .alert, .alert, .alert, .background, .voip]
    private static let unusual = SimulatedMessage.Kind.allCases.filter { $0 != .poison }

    init(count: Int, random: inout SeededRandom) {
        self.random = SeededRandom(seed: random.next())
        if self.random.chance(percent: 25) { add(.poison) }
        while all.count < count {
            add((self.random.chance(percent: 70) ? Self.usual : Self.unusual).element(self.random.next()))
        }
    }

    private mutating func add(_ kind: SimulatedMessage.Kind) {
        let id = UUIDValue(
            high: random.next() & ~0xF000 | 0x4000, low: UInt64(all.count) | 0x8000_0000_0000_0000)
        var message = SimulatedMessage(kind, number: all.count, id: id, random: &random)
        let time = random.below(Self.publishedWithinMilliseconds)
        message.publishedAfterMilliseconds = [time]
        switch kind {
        case .withoutPayload where random.chance(percent: 50):
            message.correction = all.count + 1
            all.append(message)
            all.append(SimulatedMessage(.alert, number: all.count, id: id, random: &random))
        case .alert where random.chance(percent: 3):
            all.append(message)
            var second = SimulatedMessage(.alert, number: all.count, id: id, random: &random)
            second.publishedAfterMilliseconds = [time + random.below(20_000)]
            all.append(second)
        case _ where kind != .poison && random.chance(percent: 5):
            let span = random.chance(percent: 50) ? 50 : 60_000
            message.publishedAfterMilliseconds += (0...random.below(3)).map { _ in time + random.below(span) }
            all.append(message)
        default:
            all.append(message)
        }
    }
}

extension Array {
    func element(_ random: UInt64) -> Element { self[Int(random % UInt64(count))] }
}
