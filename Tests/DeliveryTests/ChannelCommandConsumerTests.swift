import AMQP
import APNS
import APNSProtocol
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import APNSSimulator
@testable import Delivery

/// Commands for broadcast channels over AMQP, with the scripted broker and the simulator's channel management, on
/// virtual time.
@Suite struct ChannelCommandConsumerTests {
    private static let app = SimulatedApps.bundleID(0)
    private static let replyQueue = "shop.replies"

    /// A command consumer with its broker and the simulator.
    private final class Fixture {
        let loop = VirtualLoop(seed: 1)
        let names = TopologyNames()
        let broker: ScriptedBroker
        let apns: SimulatorServer
        let metrics = MetricsRegistry()
        private let service: ChannelCommandConsumer
        private let client: ChannelClient
        private let state = State()

        /// The number of unfinished calls of `close`.
        ///
        /// `@unchecked Sendable`: used only on the thread that runs the loop.
        private final class State: @unchecked Sendable {
            var closing = 0
        }

        init(replyPrefix: String? = "shop.", log: Log = .silent) throws {
            let privateKey = try #require(SimulatedApps.privateKey)
            let publicKey = try privateKey.publicKey()
            let key = try ProviderKey(
                privateKey: privateKey, keyID: SimulatedApps.keyID(0), teamID: SimulatedApps.teamID(0))
            let endpoint = SimulatedNetwork.apns(.sandbox, worker: 0)
            let (loop, names, metrics) = (loop, names, metrics)
            var world = SimulatorState()
            world.add(.simulated(0, publicKey, isBound: false))
            world.addApp(bundleID: app, teamID: SimulatedApps.teamID(0), allowsBroadcasts: true)
            (broker, apns, service, client) = try loop.enter { [world] in
                let broker = ScriptedBroker(loop: loop)
                Topology(names: names, hasChannelCommands: true).declare(at: broker)
                broker.declareQueue(replyQueue)
                try broker.start()
                let apns = SimulatorServer(loop: loop, state: world)
                try apns.listen(on: endpoint, as: Service(.sandbox, .channelManagement))
                let client = ChannelClient(
                    loop: loop, connector: ByteConnector(loop: loop, endpoint: endpoint),
                    configuration: PoolConfiguration(environment: .sandbox, key: key, authority: "manage.test"))
                func connection() -> BrokerConnection {
                    BrokerConnection(
                        loop: loop, connectors: [ByteConnector(loop: loop, endpoint: broker.endpoint)],
                        configuration: ConnectionConfiguration(
                            credentials: AMQPCredentials(user: "guest", password: "guest")))
                }
                let service = ChannelCommandConsumer(
                    consuming: connection(), publishing: connection(), names: names, replyPrefix: replyPrefix,
                    metrics: metrics, log: log
                ) { asked, environment in
                    guard asked == app else { return .failure(RequestViolation.unknownApp(asked)) }
                    return .success(
                        ChannelCommandConsumer.Place(client: client, environment: environment ?? .sandbox))
                }
                service.start()
                return (broker, apns, service, client)
            }
            let hasBegun = run { isReady }
            try #require(hasBegun)
        }

        /// Closes everything, so that the leak sanitizer reports nothing.
        deinit {
            close()
            loop.enter {
                client.close()
                broker.crash()
            }
            _ = loop.run(limit: .seconds(60), until: { false })
        }

        func run(until isDone: () -> Bool) -> Bool { loop.run(limit: .seconds(600), until: isDone) == .done }

        func pass(seconds: Int64) {
            let end = loop.now.monotonic + .seconds(seconds)
            _ = run { loop.now.monotonic >= end }
        }

        var isReady: Bool { service.status.isConsuming && service.status.isPublishing }

        var reasons: [String] { service.status.reasons }

        /// Publishes a command.
        ///
        /// - Parameter number: The number in the id of the command.
        func send(_ number: Int, _ body: String, replyTo: String? = replyQueue, deliveryCount: Int = 0) {
            loop.enter {
                _ = broker.publish(
                    routingKey: names.channelsQueue, messageID: LaneAPNSHarness.id(number),
                    correlationID: "command \(number)",
                    replyTo: replyTo, body: Array(body.utf8), deliveryCount: deliveryCount)
            }
        }

        var queue: ScriptedQueue? { broker.queue(names.channelsQueue) }
        var replies: [ScriptedMessage] { Array(broker.queue(replyQueue)?.ready ?? []) }
        var channels: Int { apns.state.channels(bundleID: app, environment: .sandbox).count }

        func waitForReplies(_ count: Int) throws -> [JSONValue] {
            let haveCome = run { replies.count == count && queue?.unsettled == 0 }
            try #require(haveCome)
            return try replies.map { try JSONDocument($0.body).root }
        }

        /// Cuts both connections to the broker.
        func cut() {
            loop.enter {
                for connection in loop.network.connections where connection.endpoint == broker.endpoint {
                    connection.cut()
                }
            }
        }

        /// Calls `close` once for each deadline, and waits for the end of all calls.
        ///
        /// - Parameter deadlines: The deadlines of the calls, in seconds. The calls are one second apart.
        func close(deadlines: [Int] = [10]) {
            for deadline in deadlines {
                loop.enter { [loop, service, state] in
                    state.closing += 1
                    _ = Task(executorPreference: loop) {
                        await service.close(deadlineSeconds: deadline)
                        state.closing -= 1
                    }
                }
                if deadlines.count > 1 { pass(seconds: 1) }
            }
            _ = run { state.closing == 0 }
        }
    }

    private static let create = #"{"app":"\#(app)","command":"create","storage_policy":"newest"}"#
    private static let list = #"{"app":"\#(app)","command":"list"}"#

    @Test func executesCommandsInOrderAndRepliesToEach() throws {
        let fixture = try Fixture()
        fixture.send(1, Self.create)
        fixture.send(2, Self.list)
        let replies = try fixture.waitForReplies(2)
        #expect(replies.map { $0["outcome"]?.string } == ["done", "done"])
        #expect(replies.map { $0["id"]?.string } == [LaneAPNSHarness.id(1), LaneAPNSHarness.id(2)])
        #expect(replies.map { $0["environment"]?.string } == ["sandbox", "sandbox"])
        let channel = try #require(replies[0]["channel_id"]?.string)
        #expect(replies[1]["channels"]?.elements.map(\.string) == [channel])
        #expect(fixture.replies.map(\.properties.correlationID) == ["command 1", "command 2"])
        #expect(fixture.replies.map(\.properties.type) == [ChannelReply.type, ChannelReply.type])
        #expect(fixture.metrics.count(of: "martlet_channel_commands_total") == 2)
    }

    @Test func repliesToInvalidCommands() throws {
        let fixture = try Fixture()
        fixture.send(1, "{")
        fixture.send(2, #"{"app":"com.example.none","command":"list"}"#)
        fixture.send(3, #"{"app":"\#(Self.app)","command":"list","x":"\#(String(repeating: "x", count: 20_000))"}"#)
        let replies = try fixture.waitForReplies(3)
        #expect(replies.map { $0["outcome"]?.string } == ["invalid", "invalid", "invalid"])
        #expect(replies.map { $0["error"]?["class"]?.string } == ["json", "app", "size"])
        #expect(replies.map { $0["error"]?["code"]?.string } == ["truncated", "unknown", "message_bytes"])
        #expect(fixture.apns.counters.requests == 0)
        #expect(fixture.metrics.count(of: "martlet_channel_commands_total") == 3)
    }

    // A producer may write a device token instead of the app.
    @Test func aDeviceTokenInsteadOfAnAppIsRedactedInTheLog() throws {
        let captured = try CapturedLog()
        let fixture = try Fixture(log: captured.log)
        let token = String(repeating: "ab", count: 32)
        fixture.send(1, #"{"app":"\#(token)","command":"list"}"#)
        _ = try fixture.waitForReplies(1)
        let lines = captured.lines()
        #expect(lines.contains { $0.contains("abababab") } && !lines.contains { $0.contains(token) }, "\(lines)")
    }

    @Test func aCommandWithoutReplyAddressIsNotExecuted() throws {
        let fixture = try Fixture()
        fixture.send(1, Self.create, replyTo: nil)
        fixture.send(2, Self.create, replyTo: "push.dead")
        let results = try #require(fixture.broker.queue(fixture.names.resultsQueue))
        #expect(fixture.run { results.ready.count == 2 && fixture.queue?.unsettled == 0 })
        let replies = try results.ready.map { try JSONDocument($0.body).root }
        #expect(replies.map { $0["outcome"]?.string } == ["invalid", "invalid"])
        #expect(results.ready.map(\.routingKey) == Array(repeating: "result.channel.\(Self.app)", count: 2))
        #expect(fixture.channels == 0 && fixture.replies.isEmpty)
    }

    // The broker connections are lost during the request to APNs, and the broker redelivers the command.
    @Test func aRedeliveredCommandGetsOneReply() throws {
        let fixture = try Fixture()
        try fixture.loop.enter { try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(2000)))) }
        fixture.send(1, Self.create)
        try #require(fixture.run { fixture.channels == 1 })
        fixture.cut()
        _ = try fixture.waitForReplies(1)
        fixture.pass(seconds: 60)
        #expect(fixture.replies.count == 1 && fixture.channels == 1 && fixture.queue?.ready.isEmpty == true)
        fixture.send(2, Self.list)
        #expect(try fixture.waitForReplies(2)[1]["channels"]?.count == 1)
    }

    /// Only a redelivery of the command itself gets no second reply. A repeated publish and another command with the
    /// same body get their own replies.
    @Test(arguments: [(1, 0), (2, 1)]) func aCommandLikeARedeliveredOneGetsItsOwnReply(
        number: Int, deliveryCount: Int
    ) throws {
        let fixture = try Fixture()
        try fixture.loop.enter {
            try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(2000)), countMax: 1))
        }
        fixture.send(1, Self.list)
        try #require(fixture.run { fixture.queue?.unsettled == 1 })
        fixture.pass(seconds: 1)
        fixture.cut()
        _ = try fixture.waitForReplies(1)
        fixture.pass(seconds: 60)
        #expect(fixture.replies.count == 1 && fixture.queue?.ready.isEmpty == true)
        fixture.send(number, Self.list, deliveryCount: deliveryCount)
        #expect(try fixture.waitForReplies(2)[1]["id"]?.string == LaneAPNSHarness.id(number))
    }

    /// A create command that another worker may have executed is not executed again. The worker only lists the
    /// channels.
    @Test func aRedeliveredCreateOnlyListsTheChannels() throws {
        let fixture = try Fixture()
        fixture.send(1, Self.create, deliveryCount: 1)
        fixture.send(2, Self.list, deliveryCount: 1)
        let replies = try fixture.waitForReplies(2)
        #expect(replies.map { $0["outcome"]?.string } == ["unknown", "done"])
        #expect(replies[0]["channels"]?.count == 0 && fixture.channels == 0)
    }

    @Test func closeFinishesTheCommandInProgress() throws {
        let fixture = try Fixture()
        try fixture.loop.enter { try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(3000)))) }
        fixture.send(1, Self.create)
        try #require(fixture.run { fixture.channels == 1 })
        fixture.close()
        #expect(fixture.replies.count == 1 && fixture.queue?.unsettled == 0 && fixture.queue?.ready.isEmpty == true)
    }

    /// A command without a reply by the deadline returns to its queue for other workers.
    @Test func closeLeavesACommandWhoseReplyIsLate() throws {
        let fixture = try Fixture()
        try fixture.loop.enter { try fixture.apns.faults.put(Fault(id: "mute", action: .silence)) }
        fixture.send(1, Self.list)
        try #require(fixture.run { fixture.queue?.unsettled == 1 })
        let began = fixture.loop.now.monotonic
        fixture.close()
        #expect(began.duration(to: fixture.loop.now.monotonic) <= .seconds(20))
        #expect(fixture.replies.isEmpty)
        #expect(fixture.run { fixture.queue?.ready.count == 1 })
    }

    @Test func theEarliestDeadlineEndsEveryClose() throws {
        let fixture = try Fixture()
        try fixture.loop.enter { try fixture.apns.faults.put(Fault(id: "mute", action: .silence)) }
        fixture.send(1, Self.list)
        try #require(fixture.run { fixture.queue?.unsettled == 1 })
        let began = fixture.loop.now.monotonic
        fixture.close(deadlines: [500, 5])
        #expect(began.duration(to: fixture.loop.now.monotonic) <= .seconds(15))
    }

    // The broker connections are lost during the request to APNs, and the broker redelivers the command.
    @Test func aCommandThatWaitsForAnotherReturnsToItsQueueAtTheDeadline() throws {
        let fixture = try Fixture()
        try fixture.loop.enter { try fixture.apns.faults.put(Fault(id: "mute", action: .silence)) }
        fixture.send(1, Self.list)
        try #require(fixture.run { fixture.queue?.unsettled == 1 })
        fixture.cut()
        try #require(fixture.run { fixture.isReady && fixture.queue?.unsettled == 1 })
        let began = fixture.loop.now.monotonic
        fixture.close()
        #expect(began.duration(to: fixture.loop.now.monotonic) <= .seconds(20))
        #expect(fixture.replies.isEmpty && fixture.queue?.unsettled == 0 && fixture.queue?.ready.count == 1)
    }

    @Test func theStatusReportsAnOutage() throws {
        let fixture = try Fixture()
        fixture.loop.enter { fixture.broker.crash() }
        #expect(fixture.run { !fixture.isReady })
        fixture.pass(seconds: 5)
        #expect(fixture.run { fixture.reasons.count == 2 })
        try fixture.loop.enter { try fixture.broker.start() }
        #expect(fixture.run { fixture.isReady })
        #expect(fixture.reasons == [])
        fixture.send(1, Self.list)
        #expect(try fixture.waitForReplies(1).count == 1)
    }
}
