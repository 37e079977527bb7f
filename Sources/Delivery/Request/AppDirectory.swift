public import APNSProtocol
import Hashing
import JSON
import Text

/// The configured apps by bundle ID.
///
/// A lookup uses the bytes of a request and creates no string.
public struct AppDirectory: Sendable {
    public typealias Index = Int

    /// An app with the connection pools that serve it in each environment.
    public struct App: Sendable {
        public var bundleID: String
        /// The environment of requests that name no environment.
        public var defaultEnvironment: APNSEnvironment
        /// The pools for production; nil if the app has no credential for production.
        public var production: Pools?
        /// The pools for the sandbox; nil if the app has no credential for the sandbox.
        public var sandbox: Pools?
        /// The limits of the app's pushes in a worker.
        public var limits: PushLimits

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

    /// The pool of each kind of push. All kinds share one pool, unless broadcasts have a separate endpoint or
    /// certificates are valid for some kinds only.
    public struct Pools: Sendable, Equatable {
        /// The pool of each kind, in the order of `Kind.all`; nil for a kind that no pool serves.
        private let numbers: [Int?]

        /// Creates the pools of an app in one environment.
        ///
        /// - Parameter number: A function that returns the pool of a kind; nil if no pool serves the kind.
        public init(_ number: (Kind) -> Int?) { numbers = Kind.all.map(number) }

        public init(device: Int, broadcast: Int) { self.init { $0 == .broadcast ? broadcast : device } }

        public init(_ pool: Int) { self.init { _ in pool } }

        public subscript(kind: Kind) -> Int? { numbers[kind.number] }
    }

    /// The kind of a push. Each kind of an app has its own topic index and breaker, even if several kinds have the same
    /// topic. A topic that APNs refuses for one kind therefore does not affect the other kinds.
    public enum Kind: Sendable, Hashable {
        case device(PushType)
        case broadcast

        public static let all = PushType.allCases.map { Kind.device($0) } + [.broadcast]

        /// Returns the topic of an app. It is the value of `apns-topic` for a device, and the bundle ID for a
        /// broadcast.
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
    /// The topics by app, then by kind in the order of `Kind.all`.
    private let topics: [[UInt8]]
    /// The pool of each route, by the number of the route; nil for a route without a pool.
    private let pools: [Int?]
    /// The routing keys of results by app, then by outcome in the order of `Outcome.allCases`.
    private let resultRoutingKeys: [[String]]
    private let mixer = SecretMixer()
    /// The indices of the apps, in a hash table with open addressing. −1 marks a free slot.
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

    /// Returns the bundle ID of an app without copying the rest of the app.
    func bundleID(of index: Index) -> String { apps[index].bundleID }

    public var count: Int { apps.count }

    /// The number of a topic among the topics of all apps.
    public typealias TopicIndex = Int

    public func topicIndex(of index: Index, _ kind: Kind) -> TopicIndex { index * Kind.all.count + kind.number }

    /// Returns a topic without copying its bytes.
    public func topic(_ index: TopicIndex) -> [UInt8] { topics[index] }

    static func routeNumber(topic: TopicIndex, _ environment: APNSEnvironment) -> Int {
        topic * APNSEnvironment.allCases.count + environment.number
    }

    /// Returns the route to a topic; nil if no pool serves the topic in the environment.
    func route(topic: TopicIndex, _ environment: APNSEnvironment) -> Route? {
        let number = Self.routeNumber(topic: topic, environment)
        return pools[number].map { Route(pool: $0, number: number) }
    }

    /// Returns all routes to a topic, in every environment that has a pool for it.
    func routes(of topic: String) -> [Route] {
        topics.indices.filter { name(ofTopic: $0) == topic }.flatMap { index in
            APNSEnvironment.allCases.compactMap { route(topic: index, $0) }
        }
    }

    /// Returns the topic of a route, for operators. The topic of broadcasts ends with `/broadcasts`.
    func topic(of route: Route) -> String { name(ofTopic: route.number / APNSEnvironment.allCases.count) }

    /// Returns the bundle ID of a route's app.
    func bundleID(of route: Route) -> String {
        apps[route.number / (Kind.all.count * APNSEnvironment.allCases.count)].bundleID
    }

    private func name(ofTopic index: TopicIndex) -> String {
        let topic = String(decoding: topics[index], as: UTF8.self)
        return Self.kind(ofTopic: index) == .broadcast ? "\(topic)/broadcasts" : topic
    }

    private static func kind(ofTopic index: TopicIndex) -> Kind { Kind.all[index % Kind.all.count] }

    /// Returns the bundle IDs of the apps that at least one of these pools serves, for operators.
    func bundleIDs(servedBy pools: [Int]) -> [String] {
        let routesPerApp = Kind.all.count * APNSEnvironment.allCases.count
        return apps.indices.filter { app in
            self.pools[app * routesPerApp..<(app + 1) * routesPerApp].contains { $0.map(pools.contains) ?? false }
        }
        .map { apps[$0].bundleID }
    }

    /// Returns the routing key of a result without creating a string.
    func resultRoutingKey(of index: Index, _ outcome: Outcome) -> String {
        resultRoutingKeys[index][outcome.number]
    }

    /// Returns the index of an app; nil if it is not configured.
    public func find(_ bundleID: UnsafeRawBufferPointer) -> Index? {
        var slot = Int(truncatingIfNeeded: mixer.hash(bundleID)) & (slots.count - 1)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if names[index].withUnsafeBytes({ $0.equals(bundleID) }) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// The maximum number of bundle IDs that are fully compared with an unknown bundle ID.
    private static let comparedMax = 16
    /// The longest unknown bundle ID for which a configured bundle ID is suggested, in bytes.
    private static let suggestedBytesMax = 155

    /// Returns the configured bundle ID that is most similar to an unknown bundle ID. Returns nil if no bundle ID is
    /// similar, or if the unknown bundle ID is empty or too long.
    ///
    /// To bound the cost with many apps, only the bundle IDs with the longest common prefix and suffix are compared.
    func nearest(to bundleID: String) -> String? {
        let name = Array(bundleID.utf8)
        guard !name.isEmpty, name.count <= Self.suggestedBytesMax else { return nil }
        let likely = names.indices.map { index in
            (index: index, common: Self.commonEnds(names[index], name))
        }
        .sorted { ($1.common, $0.index) < ($0.common, $1.index) }
        return Suggestion.nearest(to: bundleID, among: likely.prefix(Self.comparedMax).map { apps[$0.index].bundleID })
    }

    /// Returns the length of the common prefix plus the length of the common suffix, in bytes.
    private static func commonEnds(_ one: [UInt8], _ other: [UInt8]) -> Int {
        zip(one, other).prefix { $0 == $1 }.count + zip(one.reversed(), other.reversed()).prefix { $0 == $1 }.count
    }

    /// Returns a power of two that leaves the table at most half full.
    private static func slotCount(for count: Int) -> Int {
        var slots = 8
        while slots < count * 2 { slots *= 2 }
        return slots
    }
}
