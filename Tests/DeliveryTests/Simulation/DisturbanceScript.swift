import APNSProtocol
import BrokerTopology
import EventLoop

@testable import Delivery

/// The disturbances of a run, derived from its seed.
struct DisturbanceScript {
    static let countMin = 12
    static let countMax = 24
    private static let beginsWithinMilliseconds = 420_000

    struct Entry {
        let kind: Disturbance.Kind
        let afterMilliseconds: Int
        let milliseconds: Int
    }

    private(set) var entries: [Entry] = []
    private var random: SeededRandom
    private let settings: SimulatedSettings

    init(_ settings: SimulatedSettings, random: inout SeededRandom) {
        self.random = SeededRandom(seed: random.next())
        self.settings = settings
        let count = Self.countMin + self.random.below(Self.countMax - Self.countMin + 1)
        entries = (0..<count).map { _ in draw() }
        if !settings.isKeyBoundForGood {
            entries.append(Entry(kind: .keyBound, afterMilliseconds: 0, milliseconds: self.random.below(300_000)))
        }
        entries.append(
            Entry(
                kind: .appDisabled(SimulatedApps.newApp), afterMilliseconds: 0,
                milliseconds: self.random.below(300_000)))
        if settings.hasRegistrations { addRegistrations() }
    }

    /// Adds faults of the store, and deaths of workers after single steps.
    private mutating func addRegistrations() {
        for _ in 0..<(2 + random.below(5)) {
            let (fault, seconds) = storeFault()
            add(.store(fault), seconds: seconds)
        }
        for _ in 0..<(2 + random.below(5)) {
            let step = SimulatedStep.allCases.element(random.next())
            add(.workerKilledAfter(step), seconds: 120...120)
        }
    }

    private mutating func add(_ kind: Disturbance.Kind, seconds: ClosedRange<Int>) {
        let milliseconds = 1000 * (seconds.lowerBound + random.below(seconds.count))
        entries.append(
            Entry(
                kind: kind, afterMilliseconds: 500 + random.below(Self.beginsWithinMilliseconds),
                milliseconds: milliseconds))
    }

    /// Returns a random fault of the store, and the range of its duration in seconds.
    private mutating func storeFault() -> (SimulatedStoreFault, ClosedRange<Int>) {
        switch random.below(8) {
        case 0: (.unreachable, 1...60)
        case 1: (.slow(100 + random.below(1800)), 5...60)
        case 2: (.refusing, 5...60)
        case 3: (.schemaTooNew, 5...60)
        case 4: (.diskFull, 5...120)
        case 5: (.answersLost, 1...30)
        case 6: (.failover, 1...10)
        default: (.standby, 5...60)
        }
    }

    private mutating func draw() -> Entry {
        let time = 500 + random.below(Self.beginsWithinMilliseconds)
        let (kind, seconds) = kind()
        let span = (seconds.upperBound - seconds.lowerBound) * 1000
        let milliseconds = seconds.lowerBound * 1000 + random.below(span + 1)
        return Entry(kind: kind, afterMilliseconds: time, milliseconds: milliseconds)
    }

    /// Returns a random kind, and the range of its duration in seconds.
    private mutating func kind() -> (Disturbance.Kind, ClosedRange<Int>) {
        let environment: APNSEnvironment = random.chance(percent: 50) ? .production : .sandbox
        switch random.below(100) {
        case ..<28: return (.connectionCut, 0...0)
        case ..<34: return (.workerKilled, 0...3)
        case ..<38: return (.workerDrained, 0...0)
        case ..<41: return (.brokerClosesConnections, 0...0)
        case ..<44: return (.brokerClosesChannels, 0...0)
        case ..<48: return (.brokerRestarts, 1...20)
        case ..<50: return (.brokerFrozen, 5...40)
        case ..<52: return (.brokerAlarm, 5...60)
        case ..<54: return (.brokerFull, 5...60)
        case ..<59: return (.exchangesMissing(exchanges()), 10...120)
        case ..<61: return (.resultQueuesMissing, 10...120)
        case ..<67: return (.endpointLost(environment, state()), 5...240)
        case ..<71: return (.endpointFails(environment), 10...180)
        case ..<73: return (.endpointIsProxy(environment), 10...180)
        case ..<75: return (.endpointSilent(environment), 1...90)
        case ..<79: return (.goAway, 0...0)
        case ..<82: return (.streamsRefused, 5...60)
        case ..<88: return (.keyRevoked(random.below(SimulatedApps.keyCount)), 10...240)
        case ..<92: return (.appDisabled(random.below(SimulatedApps.count)), 10...240)
        case ..<96: return (.devicesThrottled, 10...120)
        default: return clock()
        }
    }

    private mutating func exchanges() -> [String] {
        let names = TopologyNames()
        switch random.below(4) {
        case 0: return [names.resultsExchange]
        case 1: return [names.deadExchange]
        case 2: return settings.hasRegistrations ? [names.registrationsExchange] : [names.quarantineQueue]
        default:
            let delay = WaitDelay.defaults[random.below(3)]
            return (0..<WaitDelay.siblings).map { names.waitQueue(delay, sibling: $0) }
        }
    }

    private mutating func state() -> SimulatedNetwork.State {
        let states: [SimulatedNetwork.State] = [.refused, .silent, .wrongCertificate]
        return states[random.below(states.count)]
    }

    /// Returns a change of the clock, and the range of its duration in seconds.
    ///
    /// Returns a cut connection instead if workers give up held requests or store registrations. The time of giving up
    /// and the refusal of commands depend on the clock.
    private mutating func clock() -> (Disturbance.Kind, ClosedRange<Int>) {
        guard !settings.isKeyBoundForGood, !settings.hasRegistrations else { return (.connectionCut, 0...0) }
        let seconds = 600 + random.below(4800)
        switch random.below(3) {
        case 0: return (.clockWrong(seconds), 5...120)
        case 1: return (.clockWrong(-seconds), 5...120)
        default: return (.suspended(seconds), 0...0)
        }
    }
}
