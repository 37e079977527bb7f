import EventLoop
import TestKit

@testable import Delivery

/// How workers, broker and APNs of a run are set up, drawn by its seed.
struct SimulatedSettings {
    let prefetch: Int
    let connectionsMax: Int
    let streamsMax: Int
    let answerDelay: Duration
    let broker: ScriptedBrokerBehaviour
    /// The key that APNs takes for one environment alone stays so: what it cannot be used for is given up in the end.
    let isKeyBoundForGood: Bool
    /// An app whose messages each lane lets go one at a time, some seconds apart.
    let limitedApp: Int?

    static let limitedSecondsApart = 10
    private static let limitsSeed: UInt64 = 0x6c69_6d69_7473_0001

    init(random: inout SeededRandom) {
        prefetch = 5 + random.below(60)
        connectionsMax = 1 + random.below(2)
        streamsMax = 20 + random.below(100)
        answerDelay = .milliseconds(random.below(200))
        var behaviour = ScriptedBrokerBehaviour()
        // Now and then longer than the shortest wait: what was sent there is back before its confirm.
        behaviour.confirmDelayMilliseconds = 0...random.below(random.chance(percent: 10) ? 8000 : 30)
        behaviour.nackPercent = random.below(3)
        behaviour.returnPercent = random.below(2)
        broker = behaviour
        isKeyBoundForGood = random.chance(percent: 20)
        // Of its own, so that all else in a world is what it was before apps had limits.
        var own = SeededRandom(seed: Self.limitsSeed ^ UInt64(prefetch << 32 | connectionsMax << 16 | streamsMax))
        limitedApp = own.chance(percent: 50) ? own.below(SimulatedApps.count) : nil
    }

    /// Of a worker, by app.
    var limits: [Int: PushLimits] {
        guard let limitedApp else { return [:] }
        let rate = Double(SimulatedWorker.lanes) / Double(Self.limitedSecondsApart)
        return [limitedApp: PushLimits(inFlightMax: SimulatedWorker.lanes, perSecondMax: rate)]
    }

    /// After which what is held up is given up.
    var holdSecondsMax: Int { isKeyBoundForGood ? 1500 : 86_400 }
}
