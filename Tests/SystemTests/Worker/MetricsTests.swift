import AMQP
import Glibc
import JSON
import Registrations
import TestKit
import Testing

extension BrokerFaultTests {
    /// The metrics of a worker that has processed requests of all kinds.
    @Suite struct Metrics {
        @Test func matchTheDocumentation() async throws {
            let folder = try TemporaryDirectory("store")
            let key = try FixtureKey("OTHERKEY01", apps: ["com.example.disabled", "com.example.limited"])
            var options = SystemFixture.Options(
                keys: [key], certificates: [try FixtureCertificate("com.example.certified")], delays: ["1s"])
            options.sections = [
                #"payload_schemas: {"com.example.app": any.schema.json}"#, "channels: {reply_prefix: shop.}",
                try Registered.section(in: folder),
            ]
            options.appLimits = ["com.example.limited": "{pushes_per_second: 1}"]
            options.files = ["any.schema.json": "{}"]
            try await OperatorHarness.with("metrics", options) { harness in
                let samples = Sample.make(4)
                try await harness.fixture.apns.request("DELETE", "/v1/teams/DEMOTEAM01/apps/com.example.disabled")
                try await harness.fixture.apns.request(
                    "PUT", "/v1/devices/\(samples[1].device)", #"{"app":"com.example.app","state":"bad"}"#)
                try await harness.fixture.apns.request(
                    "POST", "/v1/faults",
                    """
                    {"id":"busy","match":{"device_prefix":"\(samples[2].device)"},"count_max":1,
                     "action":{"answer":{"reason":"TooManyRequests"}}}
                    """)
                try await harness.broker.rabbitmqctl("close_all_connections", "closed by the test")
                try await harness.logs("broker.lost")
                try await harness.worker.waitForLog("ready")
                // The following request is held.
                try await harness.fixture.publish(Sample.make(1, from: 100, app: "com.example.disabled"))
                try await harness.logs("breaker.opened")
                try await harness.fixture.publish(samples)
                let results = try await harness.fixture.results(of: samples)
                #expect(
                    samples.map { results[$0].map(\.outcome) } == [
                        ["accepted"], ["rejected"], ["accepted"], ["accepted"],
                    ])
                let campaign = Sample.make(30, from: 300, app: "com.example.limited")
                try await harness.fixture.publish(campaign)
                try await harness.logs("app.limited")
                try harness.fixture.directory.write("any.schema.json", #"{"title":"changed"}"#)
                try await harness.logs("payload_schema.read")
                let unreadable = OutgoingMessage(
                    exchange: "", routingKey: harness.fixture.queue("channels"), body: Array("{}".utf8),
                    messageID: Sample(200).id)
                try await harness.fixture.testClient.publish([unreadable])
                try await harness.logs("channel.command")
                try await Registered.publish(harness)
                try await harness.expectDocumentedMetrics()
            }
        }
    }
}

/// Device registrations, and requests to their users.
private enum Registered {
    /// Returns a section of the configuration with a store and keys in `folder`.
    static func section(in folder: TemporaryDirectory) throws -> String {
        let keys = try folder.write("keys.json", String(decoding: RegistrationKeys.generatedFile(), as: UTF8.self))
        try #require(chmod(keys, 0o640) == 0)
        return "registrations: {store: \"sqlite:\(folder.file("store.db"))\", keys_file: \"\(keys)\"}"
    }

    /// Registers two devices of Ann, and one that moves from Bob to Cid. Then publishes requests to Ann, Cid and a user
    /// without a device.
    static func publish(_ harness: OperatorHarness) async throws {
        let now = Int64(time(nil)) * 1000
        let commands = [("ann", "aa01"), ("ann", "aa02"), ("bob", "aa03"), ("cid", "aa03")].enumerated().map {
            number, registration in
            message(
                500 + number, to: "registrations",
                """
                {"command":"register","app":"com.example.app","user":"\(registration.0)",\
                "device_token":"\(registration.1)","registered_at":\(now + Int64(number))}
                """, harness)
        }
        try await harness.fixture.testClient.publish(commands)
        try await harness.waitForMetric("martlet_registration_events_total{event=\"moved\"}")
        let requests = ["ann", "cid", "dan"].enumerated().map { number, user in
            message(
                600 + number, to: "requests",
                #"{"app":"com.example.app","push_type":"alert","user":"\#(user)","payload":{"aps":{"alert":"a"}}}"#,
                harness)
        }
        try await harness.fixture.testClient.publish(requests)
        for devices in ["none", "one", "several"] {
            try await harness.waitForMetric(
                "martlet_fanout_requests_total{app=\"com.example.app\",devices=\"\(devices)\"}")
        }
    }

    private static func message(
        _ id: Int, to exchange: String, _ body: String, _ harness: OperatorHarness
    ) -> OutgoingMessage {
        OutgoingMessage(
            exchange: harness.fixture.queue(exchange), routingKey: "any", body: Array(body.utf8),
            messageID: Sample(id).id)
    }
}

/// The name, type and label names of a metric.
private struct Metric: Hashable, CustomStringConvertible {
    var name: String
    var type: String
    var labels: Set<String>

    var description: String { "\(name) \(type) \(labels.sorted())" }
}

extension OperatorHarness {
    /// Waits until the worker has a metric with these labels.
    fileprivate func waitForMetric(_ metric: String) async throws {
        while try await !request("/metrics").1.contains(metric) {
            await fixture.testClient.sleep(for: .milliseconds(200))
        }
    }

    /// The metrics that appear only after a fault of the store, or after refusals on several days.
    private static let rare: Set<String> = [
        "martlet_registration_store_errors_total", "martlet_registration_faults_total",
        "martlet_registrations_suspended_total",
    ]

    /// Checks that promtool accepts the worker's metrics. Checks that the documentation page has each metric of the
    /// worker. Checks that the worker has each metric of the page except `rare`.
    fileprivate func expectDocumentedMetrics() async throws {
        // Queue metrics appear after the first query of the broker.
        var text = try await request("/metrics").1
        while !text.contains("\nmartlet_queue_messages{") {
            await fixture.testClient.sleep(for: .milliseconds(200))
            text = try await request("/metrics").1
        }
        let file = try fixture.directory.write("metrics", text)
        let check = try await ChildProcess.run(["sh", "-c", "promtool check metrics < '\(file)'"])
        #expect(check.exit.status == .exited(0) && check.errors.isEmpty, "\(check.output + check.errors)")
        let (scraped, documented) = (Self.metrics(in: text), try Self.documented())
        #expect(scraped.subtracting(documented) == [])
        #expect(documented.subtracting(scraped).filter { !Self.rare.contains($0.name) } == [])
    }

    /// Parses metrics in Prometheus' text format.
    private static func metrics(in text: String) -> Set<Metric> {
        Set(
            text.matches(of: /TYPE (\w+) (\w+)\n(.+)/).map { match in
                let labels = match.output.3.matches(of: /[{,](\w+)="/).map { String($0.output.1) }
                return Metric(
                    name: String(match.output.1), type: String(match.output.2), labels: Set(labels).subtracting(["le"]))
            })
    }

    private static func documented() throws -> Set<Metric> {
        let page = try Files.lines(of: Products.file("Sources/Documentation/Operators/Metrics.md"))
        return Set(
            page.compactMap { $0.wholeMatch(of: /\| `(martlet_\w+)` \| (\w+) \|(.*?)\| .*/) }.map { row in
                let labels = row.output.3.matches(of: /`(\w+)`/).map { String($0.output.1) }
                return Metric(name: String(row.output.1), type: String(row.output.2), labels: Set(labels))
            })
    }
}
