import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Registrations
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Lanes with a simulated APNs and a simulated store.
final class FanoutHarness {
    let apns: LaneAPNSHarness
    let store: SimulatedStore
    private let seen: Seen

    private final class Seen {
        var store: SimulatedStore?
        var results: [Received] = []
        var reports: [Received] = []
        var children: [ScriptedMessage] = []
        var requestPublishes = 0
        var waits: [ScriptedMessage] = []
    }

    /// A message from the results exchange.
    struct Received {
        let json: JSONDocument
        init(_ body: [UInt8]) throws { json = try JSONDocument(body) }
        func text(_ name: String) -> String? { json.root[key: name]?.string }
        func number(_ name: String) -> Int? { json.root[key: name]?.int64.map { Int($0) } }
        func flag(_ name: String) -> Bool? { json.root[key: name]?.bool }
    }

    static let app = SimulatedApps.bundleID(0)

    init(
        lanes: Int = 1, inFlightMax: Int = LaneHarness.inFlightMax, requestQueues: [String] = [],
        shards: [String: Int] = [:], limits: [Int: PushLimits] = [:]
    ) throws {
        let seen = Seen()
        self.seen = seen
        let file = try RegistrationKeys.generatedFile()
        let keys = try RegistrationKeys(json: file, source: "test")
        apns = try LaneAPNSHarness(
            lanes: lanes, inFlightMax: inFlightMax, requestQueues: requestQueues, shards: shards, limits: limits
        ) { loop in
            let store = try seen.store ?? SimulatedStore(on: loop, keys: keys)
            seen.store = store
            return store.reader()
        }
        store = try #require(seen.store)
        let names = harness.names
        harness.broker.onAppend = { queue, message in
            if queue.name == names.resultsQueue, let received = try? Received(message.body) {
                if message.routingKey.hasPrefix("result.fanout.") {
                    seen.reports.append(received)
                } else {
                    seen.results.append(received)
                }
            } else if names.isWaitQueue(queue.name) {
                seen.waits.append(message)
            } else if names.requestQueuesAndShards.contains(queue.name) {
                seen.requestPublishes += 1
                if message.properties.header(MessageHeaderName.requestID) != nil { seen.children.append(message) }
            }
        }
    }

    var harness: LaneHarness { apns.harness }
    var results: [Received] { seen.results }
    var reports: [Received] { seen.reports }
    var children: [ScriptedMessage] { seen.children }
    var waits: [ScriptedMessage] { seen.waits }
    var requestPublishes: Int { seen.requestPublishes }
    var pushedTokens: [String] { apns.pushes.filter { $0.status == 200 }.compactMap(\.deviceToken).sorted() }

    func run(until isDone: () -> Bool) -> Bool { harness.run(until: isDone) }

    /// Runs the loop for five seconds of virtual time.
    func settle() { harness.pass(seconds: 5) }

    private var rules: RegistrationRules { RegistrationRules(now: store.nowMilliseconds) }

    func register(
        _ user: String, _ tokens: [String], kind: TokenKind = .device, scope: String? = nil, isShared: Bool = false
    ) throws {
        try harness.onLoop {
            let commands = tokens.map { token in
                RegistrationCommand.register(
                    NewRegistration(
                        address: address(token, kind, scope), user: user, registeredAt: store.nowMilliseconds - 1000,
                        isShared: isShared))
            }
            try store.apply(commands, rules: rules)
        }
    }

    func unregister(_ user: String) throws {
        try harness.onLoop {
            try store.apply(
                [.unregister(.user(app: Self.app, user: user), at: store.nowMilliseconds)], rules: rules)
        }
    }

    func address(_ token: String, _ kind: TokenKind = .device, _ scope: String? = nil) -> TokenAddress {
        TokenAddress(app: Self.app, environment: .sandbox, kind: kind, scope: scope, token: token)
    }

    func tokenKey(_ token: String) throws -> UUIDValue? {
        store.rows.values.first { $0.details?.identity?.token == token }?.key.token
    }

    func fail(_ fault: StoreFault?) { harness.onLoop { store.fault = fault } }

    static let unreachable = StoreFault(.unreachable, "The store is away.")

    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    static func tokens(_ range: Range<Int>) -> [String] { range.map(token) }

    static func id(_ number: Int) -> String { LaneAPNSHarness.id(number) }

    /// Returns a request to one user, or to a list.
    static func request(_ number: Int, user: String? = nil, users: [String] = [], more: String = "") -> String {
        let target =
            user.map { #""user":"\#($0)""# }
            ?? #""users":[\#(users.map { "\"\($0)\"" }.joined(separator: ","))]"#
        return #"{"id":"\#(id(number))","app":"\#(app)",\#(target),"push_type":"alert",\#(more)"#
            + #""payload":{"aps":{"alert":"x"}}}"#
    }

    /// Publishes a request with `id(number)` as its message-id.
    ///
    /// - Parameter userID: The AMQP user of the publisher. Workers are `guest`.
    func publish(
        _ body: String, _ number: Int, headers: FieldTable = FieldTable(), expiration: String? = nil,
        key: String = "-", userID: String? = nil, deliveryCount: Int = 0
    ) {
        harness.onLoop {
            harness.broker.publish(
                exchange: harness.names.requestsExchange, routingKey: key, messageID: Self.id(number),
                headers: headers, expiration: expiration, userID: userID, body: Array(body.utf8),
                deliveryCount: deliveryCount)
        }
    }

    var deadLetters: [ScriptedMessage] { harness.deadLetters }

    /// Whether the request queues, the quarantine and the wait queues have no requests.
    var isIdle: Bool {
        let queues = harness.names.requestQueuesAndShards + [harness.names.quarantineQueue]
        return queues.allSatisfy { name in
            harness.broker.queue(name).map { $0.ready.isEmpty && $0.unsettled == 0 } ?? true
        } && harness.broker.queues.allSatisfy { !harness.names.isWaitQueue($0.name) || $0.ready.isEmpty }
    }

    func count(of name: String) -> Int { harness.counters.registry.count(of: name) }
}
