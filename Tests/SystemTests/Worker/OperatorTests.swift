import JSON
import TestKit
import Testing

extension BrokerFaultTests {
    /// Problems that need an operator.
    ///
    /// `martlet status`, `/readyz`, the log and an alert report each problem.
    @Suite struct Operators {
        @Test func aRevokedKey() async throws {
            try await OperatorHarness.with("revokedkey") { harness in
                try await harness.fixture.apns.request(
                    "PUT", "/v1/teams/DEMOTEAM01/keys/DEMOKEY001", #"{"revoked":true}"#)
                try await harness.publish(5)
                let line = try await harness.logs("breaker.opened")
                #expect(line["error"]?.string?.contains("was not revoked") == true)
                #expect(line["apns.apps"]?.string == "com.example.app")
                try await harness.expect(
                    status: ["key DEMOKEY001", "InvalidProviderToken", "was not revoked"],
                    unready: nil,
                    named: "key DEMOKEY001 held: InvalidProviderToken", alert: "MartletKeyRefused",
                    remedy: "Apple's developer account", log: line)
            }
        }

        @Test func anAppThatIsNotEnabled() async throws {
            let key = try FixtureKey("OTHERKEY01", apps: ["com.example.disabled"])
            try await OperatorHarness.with("disabled", SystemFixture.Options(keys: [key], delays: ["1s"])) { harness in
                try await harness.fixture.apns.request("DELETE", "/v1/teams/DEMOTEAM01/apps/com.example.disabled")
                // Pushes of other apps continue, so the worker stays ready.
                try await harness.publish(5)
                try await harness.fixture.results(of: harness.samples).expectAcceptedOnFirstAttempt(harness.samples)
                try await harness.fixture.publish(Sample.make(1, from: 100, app: "com.example.disabled"))
                let line = try await harness.logs("breaker.opened")
                #expect(line["error"]?.string?.contains("team and has push enabled") == true)
                try await harness.expect(
                    status: ["topic com.example.disabled", "TopicDisallowed", "team and has push enabled"],
                    unready: nil, named: "topic com.example.disabled held: TopicDisallowed",
                    alert: "MartletTopicRefused", remedy: "Apple's developer account", log: line)
            }
        }

        @Test func anUnreachableAPNs() async throws {
            try await OperatorHarness.with("apnsaway", SystemFixture.Options(hasSandbox: true)) { harness in
                harness.fixture.simulator.send(signal: 9)
                try await harness.publish(5)
                let line = try await harness.logs("breaker.opened", with: ":\(harness.fixture.port)")
                #expect(line["error"]?.string?.contains("Connection refused") == true)
                try await harness.expect(
                    status: ["127.0.0.1:\(harness.fixture.port)", "unreachable", "Connection refused"],
                    unready: "no endpoint of APNs accepts a connection", named: "held: unreachable",
                    alert: "MartletAPNsUnreachable", remedy: "developer.apple.com/system-status", log: line)
            }
        }

        /// Covers conformance row 2. The worker does not connect to a server without a current TLS version.
        @Test func anAPNsOfOldTLS() async throws {
            try await OperatorHarness.with("oldtls", SystemFixture.Options(hasSandbox: true)) { harness in
                harness.fixture.simulator.send(signal: 9)
                _ = try await harness.fixture.simulator.exit()
                let old = try await ChildProcess([
                    "openssl", "s_server", "-accept", "127.0.0.1:\(harness.fixture.port)", "-www", "-tls1_1",
                    "-cipher", "ALL:@SECLEVEL=0", "-cert", harness.fixture.directory.file("server.pem"),
                    "-key", harness.fixture.directory.file("server-key.pem"),
                ])
                _ = try await old.output.line { $0 == "ACCEPT" }
                try await harness.publish(5)
                // The other endpoint is unreachable, so its breaker opens with another error.
                let line = try await harness.logs("breaker.opened", with: ":\(harness.fixture.port)")
                #expect(line["error"]?.string?.contains("no TLS version in common") == true)
                try await harness.expect(
                    status: ["127.0.0.1:\(harness.fixture.port)", "unreachable", "no TLS version in common"],
                    unready: "no endpoint of APNs accepts a connection", named: "held: unreachable",
                    alert: "MartletAPNsUnreachable", remedy: "developer.apple.com/system-status", log: line)
                old.send(signal: 9)
            }
        }

        @Test func aQueueOfResultsThatIsFull() async throws {
            try await OperatorHarness.with("fullresults") { harness in
                // The topology's own results queue would drop its oldest results instead.
                try await harness.fixture.testClient.bind("fullresults.own", to: "fullresults.results", "result.#")
                try await harness.broker.rabbitmqctl(
                    "set_policy", "full", #"^fullresults\.own$"#, #"{"max-length":1,"overflow":"reject-publish"}"#,
                    "--apply-to", "queues")
                try await harness.publish(50)
                let line = try await harness.logs("publish.stuck")
                #expect(line["error"]?.string?.contains("a queue is full or refuses the message") == true)
                try await harness.expect(
                    status: ["cannot publish outcomes", "a queue is full or refuses the message"],
                    unready: "cannot publish outcomes: exchange fullresults.results",
                    alert: "MartletPublishStuck", remedy: "rabbitmqctl list_policies", log: line)
                try await harness.broker.rabbitmqctl("clear_policy", "full")
            }
        }

        @Test func aBrokerThatIsFrozen() async throws {
            try await OperatorHarness.with("frozenbroker", SystemFixture.Options(heartbeatSeconds: 1)) { harness in
                await harness.broker.pause()
                let line = try await harness.logs("broker.lost")
                #expect(line["error"]?.string?.isEmpty == false)
                try await harness.expect(
                    status: ["heartbeat"], unready: "heartbeat", alert: "MartletBrokerLost",
                    remedy: "rabbitmqctl status", log: line)
                await harness.broker.resume()
            }
        }

        @Test func aBrokerThatIsOutOfDisk() async throws {
            try await OperatorHarness.with("fulldisk") { harness in
                // The broker reports the alarm only to connections that publish.
                #expect(try await harness.martlet("pause", "--socket", harness.socket) == 0)
                // The lane cancels its consumer with a delay (decision 33).
                let broker = harness.broker
                while try await broker.rabbitmqctl("list_consumers", "queue_name").contains("fulldisk.requests") {}
                try await harness.publish(50)
                try await harness.broker.rabbitmqctl("set_disk_free_limit", "1000000GB")
                #expect(try await harness.martlet("resume", "--socket", harness.socket) == 0)
                let line = try await harness.logs("broker.lost")
                #expect(line["error"]?.string?.contains("disk") == true)
                try await harness.expect(
                    status: ["the broker accepts no publishes", "disk"], unready: "the broker accepts no publishes",
                    alert: "MartletBrokerBlocked", remedy: "rabbitmq-diagnostics alarms", log: line)
                try await harness.broker.rabbitmqctl("set_disk_free_limit", "50MB")
            }
        }

        @Test func aPausedWorker() async throws {
            try await OperatorHarness.with("paused") { harness in
                let pause = ["pause", "--socket", harness.socket, "--reason"]
                #expect(try await harness.martlet(pause + ["key rotation"]) == 0)
                let again = try await ChildProcess.run([Products.executable("martlet")] + pause + ["another"])
                let answer = again.output.joined()
                #expect(answer.contains("everything was paused already, paused by "), "\(answer)")
                #expect(answer.contains(": key rotation, ") && answer.hasSuffix("s ago"), "\(answer)")
                try await harness.logs("worker.paused")
                try await harness.expect(
                    status: [
                        "paused", ": key rotation; to resume, run: martlet resume",
                        "paused by an operator; for the command to resume, run: martlet status",
                    ],
                    unready: "paused by an operator", alert: "MartletPausedLong")
                #expect(try await harness.martlet("resume", "--socket", harness.socket) == 0)
                try await harness.publish(5)
                try await harness.fixture.results(of: harness.samples).expectAcceptedOnFirstAttempt(harness.samples)
                #expect(try await harness.martlet("pause", "--socket", harness.socket, "--key", "NOSUCHKEY0") == 1)
                for scope in [["--key", "DEMOKEY001"], ["--topic", "com.example.app"]] {
                    #expect(try await harness.martlet(["pause", "--socket", harness.socket] + scope) == 0)
                    let resumption = "martlet resume " + scope.joined(separator: " ")
                    try await harness.expect(
                        status: [resumption], unready: nil, named: resumption, alert: "MartletPausedLong")
                    #expect(try await harness.martlet(["resume", "--socket", harness.socket] + scope) == 0)
                    #expect(try await harness.request("/readyz") == (200, "ok\n"))
                }
            }
        }
    }
}
