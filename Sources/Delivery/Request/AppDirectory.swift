public import APNSProtocol
import Hashing
import JSON
import Text

/// The configured apps by bundle ID.
///
/// Looked up with the bytes of a message, so that no string is made for each.
public struct AppDirectory: Sendable {
    public typealias Index = Int

    /// An app, and which of the lane's connection pools serves it in each environment.
    public struct App: Sendable {
        public var bundleID: String
        /// Taken when a message names none.
        public var defaultEnvironment: APNSEnvironment
        public var production: Pools?
        public var sandbox: Pools?
        /// How much of it a worker pushes.
        public var limits: PushLimits

        /// nil: it has no credential there.
        public init(
            bundleID: String, defaultEnvironment: APNSEnvironment, production: Pools? = nil, sandbox: Pools? = nil,
            limits: PushLimits = PushLimits()
        ) {
            self.bundleID = bundleID
            self.defaultEnvironment = defaultEnvironment
            self.production = production
            self.sandbox = sandbox
            self.limits = limits
        }

        fileprivate func pool(_ kind: Kind, _ environment: APNSEnvironment) -> Int? {
            switch environment {
            case .production: production?[kind]
            case .sandbox: sandbox?[kind]
            }
        }
    }

    /// One and the same, unless broadcasts have an endpoint of their own or certificates are for some kinds only.
    public struct Pools: Sendable, Equatable {
        /// In the order of `Kind.all`.
        private let numbers: [Int?]

        /// - Parameter number: nil: nothing serves this kind.
        public init(_ number: (Kind) -> Int?) { numbers = Kind.all.map(number) }

        public init(device: Int, broadcast: Int) { self.init { $0 == .broadcast ? broadcast : device } }

        public init(_ pool: Int) { self.init { _ in pool } }

        public subscript(kind: Kind) -> Int? { numbers[kind.number] }
    }

    /// What a push is sent as. Each has a topic of its own, and what APNs refuses of one goes on for the others.
    public enum Kind: Sendable, Hashable {
        case device(PushType)
        case broadcast

        public static let all = PushType.allCases.map { Kind.device($0) } + [.broadcast]

        /// What the request names: for a device the value of `apns-topic`, for a broadcast the bundle ID.
        public func topic(bundleID: some Sequence<UInt8>) -> [UInt8] {
            switch self {
            case .device(let type): type.topic(bundleID: bundleID)
            case .broadcast: Array(bundleID)
            }
        }

        public var certificateNeed: PushType.CertificateNeed {
            switch self {
            case .device(let type): type.certificateNeed
            case .broadcast: .app
            }
        }

        fileprivate var number: Int {
            switch self {
            case .device(let type): PushType.allCases.firstIndex(of: type) ?? 0
            case .broadcast: PushType.allCases.count
            }
        }
    }

    private let apps: [App]
    private let names: [[UInt8]]
    /// By app, then by kind in the order of `Kind.all`.
    private let topics: [[UInt8]]
    /// By the number of a route.
    private let pools: [Int?]
    /// By app and outcome, in the order of `Outcome.allCases`.
    private let resultRoutingKeys: [[String]]
    private let mixer = SecretMixer()
    /// Open addressing; −1 is free.
    private let slots: [Int32]

    public init(_ apps: [App]) {
        self.apps = apps
        names = apps.map { Array($0.bundleID.utf8) }
        topics = names.flatMap { name in Kind.all.map { $0.topic(bundleID: name) } }
        pools = apps.flatMap { app in
            Kind.all.flatMap { kind in APNSEnvironment.allCases.map { app.pool(kind, $0) } }
        }
        resultRoutingKeys = apps.map { app in
            Outcome.allCases.map { RoutingKey.result($0, app: app.bundleID) }
        }
        var slots = [Int32](repeating: -1, count: Self.slotCount(for: apps.count))
        for (index, name) in names.enumerated() {
            let hash = name.withUnsafeBytes { [mixer] in mixer.hash($0) }
            var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(index)
        }
        self.slots = slots
    }

    public subscript(index: Index) -> App { apps[index] }
    public var count: Int { apps.count }

    /// Numbers the topics of all apps.
    public typealias TopicIndex = Int

    public func topicIndex(of index: Index, _ kind: Kind) -> TopicIndex { index * Kind.all.count + kind.number }

    /// Made once, and shared.
    public func topic(_ index: TopicIndex) -> [UInt8] { topics[index] }

    static func routeNumber(topic: TopicIndex, _ environment: APNSEnvironment) -> Int {
        topic * APNSEnvironment.allCases.count + environment.number
    }

    /// nil: nothing serves it.
    func route(topic: TopicIndex, _ environment: APNSEnvironment) -> Route? {
        let number = Self.routeNumber(topic: topic, environment)
        return pools[number].map { Route(pool: $0, number: number) }
    }

    /// All routes to a topic, in every environment that has a pool for it.
    func routes(of topic: String) -> [Route] {
        topics.indices.filter { name(ofTopic: $0) == topic }.flatMap { index in
            APNSEnvironment.allCases.compactMap { route(topic: index, $0) }
        }
    }

    /// The topic of a route, for operators.
    func topic(of route: Route) -> String { name(ofTopic: route.number / APNSEnvironment.allCases.count) }

    private func name(ofTopic index: TopicIndex) -> String {
        let topic = String(decoding: topics[index], as: UTF8.self)
        return Self.kind(ofTopic: index) == .broadcast ? "\(topic)/broadcasts" : topic
    }

    private static func kind(ofTopic index: TopicIndex) -> Kind { Kind.all[index % Kind.all.count] }

    /// Bundle IDs of the apps that one of these pools serves, for operators.
    func bundleIDs(servedBy pools: [Int]) -> [String] {
        let routesOfAnApp = Kind.all.count * APNSEnvironment.allCases.count
        return apps.indices.filter { app in
            self.pools[app * routesOfAnApp..<(app + 1) * routesOfAnApp].contains { $0.map(pools.contains) ?? false }
        }
        .map { apps[$0].bundleID }
    }

    /// Routing key of a result; made once, and shared.
    func resultRoutingKey(of index: Index, _ outcome: Outcome) -> String {
        resultRoutingKeys[index][outcome.number]
    }

    public func find(_ bundleID: UnsafeRawBufferPointer) -> Index? {
        var slot = Int(truncatingIfNeeded: mixer.hash(bundleID)) & (slots.count - 1)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if names[index].withUnsafeBytes({ $0.equals(bundleID) }) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Bundle IDs that are compared with an unknown one in full.
    private static let comparedMax = 16
    /// Bytes of the longest name for which a bundle ID is suggested.
    private static let suggestedBytesMax = 155

    /// Returns the configured bundle ID that an unknown one probably means; nil if none is near.
    ///
    /// Unknown names cost little however many apps there are: only those that begin and end most alike are compared.
    func nearest(to bundleID: String) -> String? {
        let name = Array(bundleID.utf8)
        guard !name.isEmpty, name.count <= Self.suggestedBytesMax else { return nil }
        let likely = names.indices.map { index in
            (index: index, alike: Self.alikeEnds(names[index], name))
        }
        .sorted { ($1.alike, $0.index) < ($0.alike, $1.index) }
        return Suggestion.nearest(to: bundleID, among: likely.prefix(Self.comparedMax).map { apps[$0.index].bundleID })
    }

    /// Bytes at the beginning and at the end that both have.
    private static func alikeEnds(_ one: [UInt8], _ other: [UInt8]) -> Int {
        zip(one, other).prefix { $0 == $1 }.count + zip(one.reversed(), other.reversed()).prefix { $0 == $1 }.count
    }

    /// A power of two, at most half full.
    private static func slotCount(for count: Int) -> Int {
        var slots = 8
        while slots < count * 2 { slots *= 2 }
        return slots
    }
}
