import AMQP
import APNSProtocol
import EventLoop
import JSON
import JSONSchema
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane between a scripted broker and nothing, on virtual time.
@Suite struct LaneTests {
    @Test func aBrokerThatFallsSilentDoesNotHoldUpTheEnd() throws {
        let rig = try LaneRig()
        try #require(rig.run { rig.isReady })
        let began = rig.loop.now.monotonic
        rig.onLoop { rig.broker.setSilent(true) }
        rig.drain(deadlineSeconds: 3)
        #expect(rig.run { rig.unfinished == 0 })
        // The deadline, and a second for each of the two connections.
        #expect(began.duration(to: rig.loop.now.monotonic) <= .seconds(5))
    }

    @Test func repeatedPublishesDoNotFillTheLog() throws {
        let log = try CapturedLog()
        let rig = try LaneRig(log: log.log)
        try #require(rig.run { rig.isReady })
        rig.onLoop { rig.broker.behaviour.nackPercent = 100 }
        for number in 1...10 { rig.request("nor is \(number)") }
        #expect(rig.run { rig.counters.publishRepeats.value >= 50 })
        #expect(log.lines().count { $0.contains("cannot be published") } == 1)
        let hourLater = rig.loop.now.monotonic + .seconds(3600)
        #expect(rig.run { rig.loop.now.monotonic >= hourLater })
        #expect(51...61 ~= log.lines().count { $0.contains("cannot be published") }, "one a minute")
    }

    @Test func aDeadLetterSaysWhenItFirstFailedAndThatItMayHaveBeenSent() throws {
        let rig = try LaneRig()
        try #require(rig.run { rig.isReady })
        rig.request("not JSON")
        rig.request("nor this", headers: ["push-first-failed-at": 7, "push-possible-duplicate": true])
        #expect(rig.run { rig.deadLetters.count == 2 })
        #expect(rig.deadLetters.map { $0.properties.header("push-possible-duplicate") } == [false, true])
        #expect(rig.deadLetters.map { $0.properties.header("push-first-failed-at") } == [nil, 7])
    }

    @Test(arguments: [
        ("com.example.other", "No app with this bundle ID is configured here."),
        (
            "com.example.shop.voip",
            "No app with this bundle ID is configured here: app goes without .voip, which push_type adds."
        ),
    ])
    func anUnknownAppIsRefused(_ app: String, _ sentence: String) {
        #expect(Refusal.unknownApp(app) == Refusal(.app, "unknown", path: "/app", sentence))
    }

    /// Its producer knows it by that.
    @Test func whatCannotBeReadIsToldByItsMessageID() throws {
        let rig = try LaneRig()
        try #require(rig.run { rig.isReady })
        let id = "6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"
        rig.request(id)
        #expect(rig.run { rig.deadLetters.count == 1 })
        #expect(rig.deadLetters.map { $0.properties.header("push-reason-class") } == ["json"])
        #expect(rig.deadLetters.map { $0.properties.header("push-apns-id") } == [.string(id)])
    }

    @Test func anAppsOwnSchemaIsForItsPayloadsAndCanBeReplaced() throws {
        func schemas(_ text: String) throws -> PayloadSchemas {
            PayloadSchemas([try CompiledSchema(JSONDocument(text))], ofApps: [0])
        }
        let app = AppDirectory.App(bundleID: "com.example.shop", defaultEnvironment: .sandbox, sandboxPool: 0)
        let rig = try LaneRig(apps: [app], payloadSchemas: try schemas(#"{"required":["order"]}"#))
        try #require(rig.run { rig.isReady })
        let request = #"""
            {"id":"6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa","app":"com.example.shop","device_token":"aabb",
             "push_type":"alert","payload":{"aps":{"alert":"x"},"shop":{"number":"7"}}}
            """#
        rig.request(request)
        #expect(rig.run { rig.deadLetters.count == 1 })
        rig.replace(try schemas(#"{"properties":{"shop":{"properties":{"number":{"type":"integer"}}}}}"#))
        rig.request(request)
        #expect(rig.run { rig.deadLetters.count == 2 })
        func headers(_ name: String) -> [FieldValue?] { rig.deadLetters.map { $0.properties.header(name) } }
        #expect(headers("push-reason-class") == ["schema", "schema"])
        #expect(headers("push-reason-code") == ["required", "type"])
        #expect(headers("push-error-path") == ["/payload", "/payload/shop/number"])
    }
}

/// What a test of a lane needs around it.
private final class LaneRig {
    let loop = VirtualLoop(seed: 1)
    let broker: ScriptedBroker
    let counters = LaneCounters(MetricsRegistry())
    private let lane: Lane
    private let names = TopologyNames()
    private let state = State()

    /// `@unchecked Sendable`: touched on the one thread that runs the loop.
    private final class State: @unchecked Sendable {
        var isReady = false
        var unfinished: Int?
    }

    init(
        log: Log = .silent, apps: [AppDirectory.App] = [], payloadSchemas: PayloadSchemas = PayloadSchemas()
    ) throws {
        let endpoint = Endpoint(host: "broker", port: 5672)
        broker = loop.enter { [loop] in ScriptedBroker(loop: loop, endpoint: endpoint) }
        var configuration = LaneConfiguration(
            broker: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")),
            inFlightMax: 10, apps: AppDirectory(apps), pools: [], worker: "tested")
        configuration.payloadSchemas = payloadSchemas
        lane = try loop.enter { [loop, broker, counters, state, configuration] in
            Topology().declare(at: broker)
            try broker.start()
            let connector = ByteConnector(loop: loop, endpoint: endpoint)
            return Lane(
                loop: loop, configuration: configuration,
                connectors: Lane.Connectors(consumer: [connector], publisher: [connector], apns: []),
                counters: counters, copies: CopyMemory(), log: log, onStateChange: { state.isReady = $0.isReady })
        }
        loop.enter { [loop, lane] in _ = Task(executorPreference: loop) { await lane.start() } }
    }

    /// Ends everything, so that the leak sanitizer finds nothing left.
    deinit {
        if state.unfinished == nil { drain(deadlineSeconds: 1) }
        _ = run { state.unfinished != nil }
        loop.enter { broker.crash() }
        _ = loop.run(limit: .seconds(60), until: { false })
    }

    var isReady: Bool { state.isReady }
    /// How many deliveries the drain has left; nil before its end.
    var unfinished: Int? { state.unfinished }

    func onLoop(_ body: () -> Void) { loop.enter(body) }

    /// Runs for at most two hours.
    func run(until isDone: () -> Bool) -> Bool {
        loop.run(limit: .seconds(7200), until: isDone) == .done
    }

    func request(_ text: String, headers: FieldTable = FieldTable()) {
        loop.enter {
            _ = broker.publish(
                exchange: names.requestsExchange, routingKey: "-", messageID: text, headers: headers,
                body: Array(text.utf8))
        }
    }

    func replace(_ payloadSchemas: PayloadSchemas) {
        loop.enter { [loop, lane] in
            _ = Task(executorPreference: loop) { await lane.replace(payloadSchemas) }
        }
    }

    func drain(deadlineSeconds: Int) {
        loop.enter { [loop, lane, state] in
            _ = Task(executorPreference: loop) {
                state.unfinished = await lane.drain(deadlineSeconds: deadlineSeconds).unfinished
            }
        }
    }

    var deadLetters: [ScriptedMessage] { Array(broker.queue(names.deadQueue)?.ready ?? []) }
}
