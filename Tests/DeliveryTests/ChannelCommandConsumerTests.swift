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

/// Commands for broadcast channels over AMQP: the scripted broker, and the simulator's channel management, on virtual
/// time.
@Suite struct ChannelCommandConsumerTests {
    private static let app = SimulatedApps.bundleID(0)
    private static let replyQueue = "shop.replies"

    /// What a test needs around the service.
    private final class Desk {
        let loop = VirtualLoop(seed: 1)
        let names = TopologyNames()
        let broker: ScriptedBroker
        let apns: SimulatorServer
        let metrics = MetricsRegistry()
        private let service: ChannelCommandConsumer
        private let manager: ChannelClient
        private let state = State()

        /// `@unchecked Sendable`: touched on the one thread that runs the loop.
        private final class State: @unchecked Sendable {
            var closing = 0
        }

        init(replyPrefix: String? = "shop.") throws {
            let privateKey = try #require(SimulatedApps.privateKey)
            let publicKey = try privateKey.publicKey()
            let key = try ProviderKey(
                privateKey: privateKey, keyID: SimulatedApps.keyID(0), teamID: SimulatedApps.teamID(0))
            let endpoint = SimulatedNetwork.apns(.sandbox, worker: 0)
            let (loop, names, metrics) = (loop, names, metrics)
            var world = SimulatorState()
            world.add(.simulated(0, publicKey, isBound: false))
            world.addApp(bundleID: app, teamID: SimulatedApps.teamID(0), allowsBroadcasts: true)
            (broker, apns, service, manager) = try loop.enter { [world] in
                let broker = ScriptedBroker(loop: loop)
                Topology(names: names, hasChannelCommands: true).declare(at: broker)
                broker.declareQueue(replyQueue)
                try broker.start()
                let apns = SimulatorServer(loop: loop, state: world)
                try apns.listen(on: endpoint, as: Service(.sandbox, .channelManagement))
                let manager = ChannelClient(
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
                    metrics: metrics, log: .silent
                ) { asked, environment in
                    guard asked == app else { return .failure(RequestViolation.unknownApp(asked)) }
                    return .success(
                        ChannelCommandConsumer.Place(manager: manager, environment: environment ?? .sandbox))
                }
                service.start()
                return (broker, apns, service, manager)
            }
            let hasBegun = run { isReady }
            try #require(hasBegun)
        }

        /// Ends everything, so that the leak sanitizer finds nothing left.
        deinit {
            close()
            loop.enter {
                manager.close()
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

        /// - Parameter number: of its id.
        func send(_ number: Int, _ body: String, replyTo: String? = replyQueue, deliveryCount: Int = 0) {
            loop.enter {
                _ = broker.publish(
                    routingKey: names.channelsQueue, messageID: LaneAPNSHarness.id(number),
                    correlationID: "ask \(number)",
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

        /// Both connections to the broker.
        func cut() {
            loop.enter {
                for connection in loop.network.connections where connection.endpoint == broker.endpoint {
                    connection.cut()
                }
            }
        }

        /// - Parameter deadlines: in seconds, of as many calls, one second after another.
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

    @Test func commandsAreCarriedOutInTheirOrderAndRepliedTo() throws {
        let desk = try Desk()
        desk.send(1, Self.create)
        desk.send(2, Self.list)
        let told = try desk.waitForReplies(2)
        #expect(told.map { $0["outcome"]?.string } == ["done", "done"])
        #expect(told.map { $0["id"]?.string } == [LaneAPNSHarness.id(1), LaneAPNSHarness.id(2)])
        #expect(told.map { $0["environment"]?.string } == ["sandbox", "sandbox"])
        let channel = try #require(told[0]["channel_id"]?.string)
        #expect(told[1]["channels"]?.elements.map(\.string) == [channel])
        #expect(desk.replies.map(\.properties.correlationID) == ["ask 1", "ask 2"])
        #expect(desk.replies.map(\.properties.type) == [ChannelReply.type, ChannelReply.type])
        #expect(desk.metrics.count(of: "martlet_channel_commands_total") == 2)
    }

    @Test func whatIsWrongIsTold() throws {
        let desk = try Desk()
        desk.send(1, "{")
        desk.send(2, #"{"app":"com.example.none","command":"list"}"#)
        desk.send(3, #"{"app":"\#(Self.app)","command":"list","x":"\#(String(repeating: "x", count: 20_000))"}"#)
        let told = try desk.waitForReplies(3)
        #expect(told.map { $0["outcome"]?.string } == ["invalid", "invalid", "invalid"])
        #expect(told.map { $0["error"]?["class"]?.string } == ["json", "app", "size"])
        #expect(desk.apns.counters.requests == 0)
        #expect(desk.metrics.count(of: "martlet_channel_commands_total") == 3)
    }

    /// What nobody would be told of is not done.
    @Test func aCommandWithoutReplyAddressIsNotCarriedOut() throws {
        let desk = try Desk()
        desk.send(1, Self.create, replyTo: nil)
        desk.send(2, Self.create, replyTo: "push.dead")
        let results = try #require(desk.broker.queue(desk.names.resultsQueue))
        #expect(desk.run { results.ready.count == 2 && desk.queue?.unsettled == 0 })
        let told = try results.ready.map { try JSONDocument($0.body).root }
        #expect(told.map { $0["outcome"]?.string } == ["invalid", "invalid"])
        #expect(results.ready.map(\.routingKey) == Array(repeating: "result.channel.\(Self.app)", count: 2))
        #expect(desk.channels == 0 && desk.replies.isEmpty)
    }

    /// The connections are lost while APNs is asked: the command comes again when it has been carried out and replied to.
    @Test func whatComesAgainIsRepliedToOnce() throws {
        let desk = try Desk()
        try desk.loop.enter { try desk.apns.faults.put(Fault(id: "slow", action: .latency(.constant(2000)))) }
        desk.send(1, Self.create)
        try #require(desk.run { desk.channels == 1 })
        desk.cut()
        _ = try desk.waitForReplies(1)
        desk.pass(seconds: 60)
        #expect(desk.replies.count == 1 && desk.channels == 1 && desk.queue?.ready.isEmpty == true)
        desk.send(2, Self.list)
        #expect(try desk.waitForReplies(2)[1]["channels"]?.count == 1)
    }

    /// One that another worker may have carried out makes no second channel.
    @Test func aRedeliveredCreateIsLookedInto() throws {
        let desk = try Desk()
        desk.send(1, Self.create, deliveryCount: 1)
        desk.send(2, Self.list, deliveryCount: 1)
        let told = try desk.waitForReplies(2)
        #expect(told.map { $0["outcome"]?.string } == ["unknown", "done"])
        #expect(told[0]["channels"]?.count == 0 && desk.channels == 0)
    }

    @Test func whoClosesFinishesTheCommandThatItHas() throws {
        let desk = try Desk()
        try desk.loop.enter { try desk.apns.faults.put(Fault(id: "slow", action: .latency(.constant(3000)))) }
        desk.send(1, Self.create)
        try #require(desk.run { desk.channels == 1 })
        desk.close()
        #expect(desk.replies.count == 1 && desk.queue?.unsettled == 0 && desk.queue?.ready.isEmpty == true)
    }

    /// What cannot be replied to in time is left for others.
    @Test func whoClosesInVainLeavesTheCommand() throws {
        let desk = try Desk()
        try desk.loop.enter { try desk.apns.faults.put(Fault(id: "mute", action: .silence)) }
        desk.send(1, Self.list)
        try #require(desk.run { desk.queue?.unsettled == 1 })
        let began = desk.loop.now.monotonic
        desk.close()
        #expect(began.duration(to: desk.loop.now.monotonic) <= .seconds(20))
        #expect(desk.replies.isEmpty)
        #expect(desk.run { desk.queue?.ready.count == 1 })
    }

    @Test func theEarliestDeadlineEndsEveryClose() throws {
        let desk = try Desk()
        try desk.loop.enter { try desk.apns.faults.put(Fault(id: "mute", action: .silence)) }
        desk.send(1, Self.list)
        try #require(desk.run { desk.queue?.unsettled == 1 })
        let began = desk.loop.now.monotonic
        desk.close(deadlines: [500, 5])
        #expect(began.duration(to: desk.loop.now.monotonic) <= .seconds(15))
    }

    /// The connection was lost while APNs is asked, and the command is delivered again.
    @Test func aCommandThatWaitsForAnotherReturnsToItsQueueAtTheDeadline() throws {
        let desk = try Desk()
        try desk.loop.enter { try desk.apns.faults.put(Fault(id: "mute", action: .silence)) }
        desk.send(1, Self.list)
        try #require(desk.run { desk.queue?.unsettled == 1 })
        desk.cut()
        try #require(desk.run { desk.isReady && desk.queue?.unsettled == 1 })
        let began = desk.loop.now.monotonic
        desk.close()
        #expect(began.duration(to: desk.loop.now.monotonic) <= .seconds(20))
        #expect(desk.replies.isEmpty && desk.queue?.unsettled == 0 && desk.queue?.ready.count == 1)
    }

    @Test func anOutageShowsInItsStatus() throws {
        let desk = try Desk()
        desk.loop.enter { desk.broker.crash() }
        #expect(desk.run { !desk.isReady })
        desk.pass(seconds: 5)
        #expect(desk.run { desk.reasons.count == 2 })
        try desk.loop.enter { try desk.broker.start() }
        #expect(desk.run { desk.isReady })
        #expect(desk.reasons == [])
        desk.send(1, Self.list)
        #expect(try desk.waitForReplies(1).count == 1)
    }
}
