import EventLoop
import TestKit

/// How workers, broker and APNs of a run are set up, drawn by its seed.
struct SimulatedSettings {
    let prefetch: Int
    let connectionsMax: Int
    let streamsMax: Int
    let answerDelay: Duration
    let broker: ScriptedBrokerBehaviour
    /// The key that APNs takes for one environment alone stays so: what it cannot be used for is given up in the end.
    let isKeyBoundForGood: Bool

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
    }

    /// After which what is held up is given up.
    var holdSecondsMax: Int { isKeyBoundForGood ? 1500 : 86_400 }
}
