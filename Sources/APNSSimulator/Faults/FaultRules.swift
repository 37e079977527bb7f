public import APNSProtocol
import EventLoop
import Hashing
public import JSON

/// The faults in force, and the choice of the faults that apply to a request or a connection.
///
/// The choice is deterministic. The same faults, seed and requests have the same effects. Each fault has its own
/// random numbers, so adding a fault does not change the requests that earlier faults select.
public struct FaultRules: Sendable {
    /// Maximum number of faults in force.
    public static let faultsMax = 64

    /// A fault, and how often it has applied.
    public struct Entry: Sendable {
        public let fault: Fault
        public fileprivate(set) var struck = 0
        /// Number of matching requests or connections that the fault has skipped.
        private var skipped = 0
        fileprivate let match: Match
        fileprivate var random: SeededRandom

        fileprivate var isSpent: Bool { fault.countMax.map { struck >= $0 } ?? false }

        fileprivate init(_ fault: Fault, seed: UInt64) {
            self.fault = fault
            match = Match(fault.match)
            random = SeededRandom(seed: seed)
        }

        /// Returns whether the fault applies to the next matching request or connection. Counts the request or
        /// connection if the fault skips it or applies to it.
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

    /// The conditions of a fault, with texts as bytes.
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

    /// Creates rules with these faults in force.
    ///
    /// - Parameter faults: at most ``faultsMax`` faults. The initializer ignores further faults.
    public init(seed: UInt64 = 0, faults: [Fault] = []) {
        self.seed = seed
        for fault in faults { try? put(fault) }
    }

    /// Replaces all faults. The counts of the new faults start at 0.
    public mutating func replaceAll(with faults: [Fault]) {
        self = FaultRules(seed: seed, faults: faults)
    }

    public var isEmpty: Bool { entries.isEmpty }

    /// Adds a fault at the end, or replaces the fault with the same ID. The count of the new fault starts at 0.
    ///
    /// - Throws: `InputError` if no fault has the same ID and ``faultsMax`` faults are in force.
    public mutating func put(_ fault: Fault) throws(InputError) {
        var hash = FNV1a(seed: seed)
        hash.mix(fault.id.utf8)
        let entry = Entry(fault, seed: hash.value)
        if let index = entries.firstIndex(where: { $0.fault.id == fault.id }) {
            entries[index] = entry
        } else {
            guard entries.count < Self.faultsMax else {
                throw InputError("cannot add the fault: the limit is \(Self.faultsMax) faults; delete a fault first")
            }
            entries.append(entry)
        }
    }

    /// Removes a fault. Returns false if no fault has this ID.
    @discardableResult
    public mutating func remove(id: String) -> Bool {
        guard let index = entries.firstIndex(where: { $0.fault.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    public mutating func removeAll() { entries = [] }

    /// Resets the counts and random numbers. The same requests then have the same effects again.
    public mutating func restart() {
        let faults = entries.map(\.fault)
        entries = []
        for fault in faults { try? put(fault) }
    }

    /// Returns the fault. If its ID is empty, the result has a new ID that no other fault has.
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

    /// Returns the effect on a request: the first latency and the first other action that apply, in the order of the
    /// faults. Counts the request for each fault that skips it or applies to it.
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

    /// Returns the actions of all faults that apply to a new connection, in the order of the faults.
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

/// The properties of a request or a connection that faults match. The buffers are views into the memory of the request
/// or of the client's certificate.
public struct FaultSubject {
    public var service: Service
    public var connection: Int
    public var topic: UnsafeRawBufferPointer?
    public var deviceToken: UnsafeRawBufferPointer?
    public var pushType: PushType?
    /// Time without streams on the connection before the request's stream.
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

/// The effect of the faults on one request.
public struct FaultEffect: Sendable, Hashable {
    /// The latency that replaces the delay configured for all answers; nil if no fault with a latency applies.
    public var latency: Duration?
    /// The action, which is never a latency; nil unless a fault with such an action applies.
    public var action: FaultAction?
    /// ID of the fault for the request log; nil if no fault applies. A fault with another action takes precedence over
    /// a fault with a latency.
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
