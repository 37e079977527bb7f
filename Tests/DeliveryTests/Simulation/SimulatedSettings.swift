import EventLoop
import TestKit

@testable import Delivery

/// The settings of workers, broker and APNs in a run, derived from its seed.
struct SimulatedSettings {
    let prefetch: Int
    let connectionsMax: Int
    let streamsMax: Int
    let answerDelay: Duration
    let broker: ScriptedBrokerBehavior
    /// Whether the bound key stays invalid in the sandbox until the end of the run. If so, requests that need
    /// the key in the sandbox become dead letters.
    let isKeyBoundForGood: Bool
    /// An app whose requests each lane pushes one at a time, some seconds apart; nil for no app.
    let limitedApp: Int?
    /// Whether the workers store device registrations.
    let hasRegistrations: Bool
    /// The number of ready messages above which the request queue refuses the requests of workers; nil for no limit.
    let requestsMax: Int?

    static let limitedSecondsApart = 10
    private static let limitsSeed: UInt64 = 0x6c69_6d69_7473_0001

    /// Returns whether a seed has registrations. Only every fifth seed has registrations, to keep the cost of a run
    /// low.
    static func hasRegistrations(_ seed: UInt64) -> Bool { seed.isMultiple(of: 5) }

    init(seed: UInt64, random: inout SeededRandom) {
        prefetch = 5 + random.below(60)
        connectionsMax = 1 + random.below(2)
        streamsMax = 20 + random.below(100)
        answerDelay = .milliseconds(random.below(200))
        var behavior = ScriptedBrokerBehavior()
        // The delay is sometimes longer than the shortest wait, so that a request returns before its confirm.
        behavior.confirmDelayMilliseconds = 0...random.below(random.chance(percent: 10) ? 8000 : 30)
        behavior.nackPercent = random.below(3)
        behavior.returnPercent = random.below(2)
        broker = behavior
        isKeyBoundForGood = random.chance(percent: 20)
        // With a separate generator, the limits do not change the other random choices of a seed.
        var own = SeededRandom(seed: Self.limitsSeed ^ UInt64(prefetch << 32 | connectionsMax << 16 | streamsMax))
        limitedApp = own.chance(percent: 50) ? own.below(SimulatedApps.count) : nil
        hasRegistrations = Self.hasRegistrations(seed)
        requestsMax = hasRegistrations && own.chance(percent: 50) ? 1 + own.below(8) : nil
    }

    /// The limits of a worker, by app.
    var limits: [Int: PushLimits] {
        guard let limitedApp else { return [:] }
        let rate = Double(SimulatedWorker.lanes) / Double(Self.limitedSecondsApart)
        return [limitedApp: PushLimits(inFlightMax: SimulatedWorker.lanes, perSecondMax: rate)]
    }

    /// The number of seconds after which workers give up a held request.
    var holdSecondsMax: Int { isKeyBoundForGood ? 1500 : 86_400 }
}
