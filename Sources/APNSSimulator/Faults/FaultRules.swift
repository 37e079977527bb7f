public import APNSProtocol
import EventLoop
import Hashing
public import JSON

/// The faults in force, and which of them strikes what. Pure but for its memory: the same faults, seed and requests give
/// the same effects, and each fault draws its own lots, so that one more does not change what the others strike.
public struct FaultRules: Sendable {
    /// Faults in force at once.
    public static let faultsMax = 64

    /// A fault, and how often it has struck.
    public struct Entry: Sendable {
        public let fault: Fault
        public fileprivate(set) var struck = 0
        /// How many of what matched were let through at first.
        private var skipped = 0
        fileprivate let match: Match
        fileprivate var random: SeededRandom

        fileprivate var isSpent: Bool { fault.countMax.map { struck >= $0 } ?? false }

        fileprivate init(_ fault: Fault, seed: UInt64) {
            self.fault = fault
            match = Match(fault.match)
            random = SeededRandom(seed: seed)
        }

        /// Whether it strikes something that it matches.
        fileprivate mutating func strikes() -> Bool {
            guard skipped >= fault.skipCount else {
                skipped += 1
                return false
            }
            guard fault.share >= 1 || LatencyDistribution.unit(&random) < fault.share else { return false }
            struck += 1
            return true
        }
    }

    /// A fault's match with its texts as bytes.
    fileprivate struct Match {
        let fields: FaultMatch
        let topic: [UInt8]?
        let devicePrefix: [UInt8]?

        init(_ fields: FaultMatch) {
            self.fields = fields
            topic = fields.topic.map { Array($0.utf8) }
            devicePrefix = fields.devicePrefix.map { $0.utf8.map(lowercased) }
        }
    }

    public private(set) var entries: [Entry] = []
    private let seed: UInt64
    private var lastMadeID = 0

    /// - Parameter faults: at most ``faultsMax``; further ones are left out.
    public init(seed: UInt64 = 0, faults: [Fault] = []) {
        self.seed = seed
        for fault in faults { try? put(fault) }
    }

    /// Has these in force and no others, as such that have not struck yet.
    public mutating func exchange(_ faults: [Fault]) {
        self = FaultRules(seed: seed, faults: faults)
    }

    public var isEmpty: Bool { entries.isEmpty }

    /// Puts a fault behind the others, or in the place of the one with the same id, as one that has not struck yet.
    ///
    /// - Throws: when there are ``faultsMax``.
    public mutating func put(_ fault: Fault) throws(InputError) {
        var hash = FNV1a(seed: seed)
        hash.mix(fault.id.utf8)
        let entry = Entry(fault, seed: hash.value)
        if let index = entries.firstIndex(where: { $0.fault.id == fault.id }) {
            entries[index] = entry
        } else {
            guard entries.count < Self.faultsMax else {
                throw InputError("there are \(Self.faultsMax) faults already; delete one first")
            }
            entries.append(entry)
        }
    }

    /// Takes a fault out; false when there is none with this id.
    @discardableResult
    public mutating func remove(id: String) -> Bool {
        guard let index = entries.firstIndex(where: { $0.fault.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    public mutating func removeAll() { entries = [] }

    /// Forgets what has struck; the same requests meet the same fates again.
    public mutating func restart() {
        let faults = entries.map(\.fault)
        entries = []
        for fault in faults { try? put(fault) }
    }

    /// Returns a fault with its own id, or with one that no other fault has if its own is empty.
    mutating func identified(_ fault: Fault) -> Fault {
        var fault = fault
        if fault.id.isEmpty { fault.id = makeID() }
        return fault
    }

    private mutating func makeID() -> String {
        var id: String
        repeat {
            lastMadeID += 1
            id = "fault-\(lastMadeID)"
        } while entries.contains { $0.fault.id == id }
        return id
    }

    /// What befalls a request: the first latency and the first other fault that strike it, in the order of the faults.
    public mutating func effect(of request: FaultSubject) -> FaultEffect {
        var effect = FaultEffect()
        for index in entries.indices where entries[index].fault.trigger == .request && !entries[index].isSpent {
            if case .latency(let distribution) = entries[index].fault.action {
                guard effect.latency == nil, entries[index].match.covers(request), entries[index].strikes() else {
                    continue
                }
                effect.latency = distribution.sample(&entries[index].random)
                effect.faultID = effect.faultID ?? entries[index].fault.id
            } else {
                guard effect.action == nil, entries[index].match.covers(request), entries[index].strikes() else {
                    continue
                }
                effect.action = entries[index].fault.action
                effect.faultID = entries[index].fault.id
            }
        }
        return effect
    }

    /// What befalls a new connection: every fault that strikes it, in their order.
    public mutating func actions(onConnection number: Int, of service: Service) -> [(id: String, action: FaultAction)] {
        var actions: [(id: String, action: FaultAction)] = []
        let subject = FaultSubject(service: service, connection: number)
        for index in entries.indices where entries[index].fault.trigger == .connection && !entries[index].isSpent {
            guard entries[index].match.covers(subject), entries[index].strikes() else { continue }
            actions.append((entries[index].fault.id, entries[index].fault.action))
        }
        return actions
    }
}

/// A request or a connection as faults see it. The bytes are views, valid while it is looked at.
public struct FaultSubject {
    public var service: Service
    public var connection: Int
    public var topic: UnsafeRawBufferPointer?
    public var deviceToken: UnsafeRawBufferPointer?
    public var pushType: PushType?
    /// How long the connection had no request before this one.
    public var idle: Duration

    public init(
        service: Service, connection: Int, topic: UnsafeRawBufferPointer? = nil,
        deviceToken: UnsafeRawBufferPointer? = nil, pushType: PushType? = nil, idle: Duration = .zero
    ) {
        self.service = service
        self.connection = connection
        self.topic = topic
        self.deviceToken = deviceToken
        self.pushType = pushType
        self.idle = idle
    }
}

/// What faults do to one request.
public struct FaultEffect: Sendable, Hashable {
    /// Takes the place of the delay that all answers have.
    public var latency: Duration?
    /// Never a latency.
    public var action: FaultAction?
    /// The fault that the request is remembered by: that of the action, else that of the latency.
    public var faultID: String?

    public init() {}
}

extension FaultRules.Match {
    fileprivate func covers(_ subject: FaultSubject) -> Bool {
        if let environment = fields.environment, environment != subject.service.environment { return false }
        if let kind = fields.service, kind != subject.service.kind { return false }
        if let connection = fields.connection, connection != subject.connection { return false }
        if let pushType = fields.pushType, pushType != subject.pushType { return false }
        if let idle = fields.idleSecondsMin, subject.idle < .seconds(idle) { return false }
        if let topic {
            guard let other = subject.topic, topic.withUnsafeBytes({ $0.equals(other) }) else { return false }
        }
        if let devicePrefix {
            guard let token = subject.deviceToken, token.count >= devicePrefix.count,
                zip(devicePrefix, token).allSatisfy({ $0 == lowercased($1) })
            else { return false }
        }
        return true
    }
}
