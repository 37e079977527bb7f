import JSON
import TestKit
import Testing

extension TroubledBrokerTests {
    /// What is wrong is named, with what mends it, wherever an operator may look: in `martlet status`, in `/readyz`, in
    /// the log and by an alert.
    @Suite struct Operators {
        @Test func aRevokedKey() async throws {
            try await Operator.with("revokedkey") { look in
                try await look.fixture.apns.ask(
                    "PUT", "/v1/teams/DEMOTEAM01/keys/DEMOKEY001", #"{"revoked":true}"#)
                try await look.publish(5)
                let line = try await look.logs("breaker.opened")
                #expect(line["error"]?.string?.contains("it was not revoked") == true)
                #expect(line["apns.apps"]?.string == "com.example.app")
                try await look.expect(
                    status: ["key DEMOKEY001", "InvalidProviderToken", "it was not revoked"],
                    unready: nil,
                    named: "key DEMOKEY001 held: InvalidProviderToken", alert: "MartletKeyRefused",
                    remedy: "Apple's developer account", log: line)
            }
        }

        @Test func anAppThatIsNotEnabled() async throws {
            let key = try FixtureKey("OTHERKEY01", apps: ["com.example.disabled"])
            try await Operator.with("disabled", SystemFixture.Options(keys: [key], delays: ["1s"])) { look in
                try await look.fixture.apns.ask("DELETE", "/v1/teams/DEMOTEAM01/apps/com.example.disabled")
                // Others go on, so that the worker stays ready.
                try await look.publish(5)
                try await look.fixture.told(of: look.samples).expectAcceptedAtOnce(look.samples)
                try await look.fixture.publish(Sample.make(1, from: 100, app: "com.example.disabled"))
                let line = try await look.logs("breaker.opened")
                #expect(line["error"]?.string?.contains("the app belongs to the team and has push enabled") == true)
                try await look.expect(
                    status: ["topic com.example.disabled", "TopicDisallowed", "team and has push enabled"],
                    unready: nil, named: "topic com.example.disabled held: TopicDisallowed",
                    alert: "MartletTopicRefused", remedy: "Apple's developer account", log: line)
            }
        }

        @Test func anAPNsThatIsAway() async throws {
            try await Operator.with("apnsaway", SystemFixture.Options(hasSandbox: true)) { look in
                look.fixture.simulator.send(signal: 9)
                try await look.publish(5)
                let line = try await look.logs("breaker.opened", with: ":\(look.fixture.port)")
                #expect(line["error"]?.string?.contains("Connection refused") == true)
                try await look.expect(
                    status: ["127.0.0.1:\(look.fixture.port)", "unreachable", "Connection refused"],
                    unready: "no endpoint of APNs accepts a connection", named: "held: unreachable",
                    alert: "MartletAPNsUnreachable", remedy: "developer.apple.com/system-status", log: line)
            }
        }

        /// Row 2 of the cases of APNs: what speaks no TLS of today is not spoken to.
        @Test func anAPNsOfOldTLS() async throws {
            try await Operator.with("oldtls", SystemFixture.Options(hasSandbox: true)) { look in
                look.fixture.simulator.send(signal: 9)
                _ = try await look.fixture.simulator.exit()
                let old = try await ChildProcess([
                    "openssl", "s_server", "-accept", "127.0.0.1:\(look.fixture.port)", "-www", "-tls1_1",
                    "-cipher", "ALL:@SECLEVEL=0", "-cert", look.fixture.directory.file("server.pem"),
                    "-key", look.fixture.directory.file("server-key.pem"),
                ])
                _ = try await old.output.line { $0 == "ACCEPT" }
                try await look.publish(5)
                // The other endpoint is away.
                let line = try await look.logs("breaker.opened", with: ":\(look.fixture.port)")
                #expect(line["error"]?.string?.contains("no TLS version in common") == true)
                try await look.expect(
                    status: ["127.0.0.1:\(look.fixture.port)", "unreachable", "no TLS version in common"],
                    unready: "no endpoint of APNs accepts a connection", named: "held: unreachable",
                    alert: "MartletAPNsUnreachable", remedy: "developer.apple.com/system-status", log: line)
                old.send(signal: 9)
            }
        }

        @Test func aQueueOfResultsThatIsFull() async throws {
            try await Operator.with("fullresults") { look in
                // The queue of all results drops the oldest instead.
                try await look.fixture.testClient.bind("fullresults.own", to: "fullresults.results", "result.#")
                try await look.broker.rabbitmqctl(
                    "set_policy", "full", #"^fullresults\.own$"#, #"{"max-length":1,"overflow":"reject-publish"}"#,
                    "--apply-to", "queues")
                try await look.publish(50)
                let line = try await look.logs("publish.stuck")
                #expect(line["error"]?.string?.contains("a queue is full or refuses the message") == true)
                try await look.expect(
                    status: ["cannot publish outcomes", "a queue is full or refuses the message"],
                    unready: "cannot publish outcomes: exchange fullresults.results",
                    alert: "MartletPublishStuck", remedy: "rabbitmqctl list_policies", log: line)
                try await look.broker.rabbitmqctl("clear_policy", "full")
            }
        }

        @Test func aBrokerThatIsFrozen() async throws {
            try await Operator.with("frozenbroker", SystemFixture.Options(heartbeatSeconds: 1)) { look in
                await look.broker.pause()
                let line = try await look.logs("broker.lost")
                #expect(line["error"]?.string?.isEmpty == false)
                try await look.expect(
                    status: ["heartbeat"], unready: "heartbeat", alert: "MartletBrokerLost",
                    remedy: "rabbitmqctl status", log: line)
                await look.broker.resume()
            }
        }

        @Test func aBrokerThatIsOutOfDisk() async throws {
            try await Operator.with("fulldisk") { look in
                // The broker tells those alone that publish.
                #expect(try await look.martlet("pause", "--socket", look.socket) == 0)
                // The consumer is cancelled 50 to 250 ms later (decision 33).
                while try await look.broker.rabbitmqctl("list_consumers", "queue_name").contains("fulldisk.requests") {}
                try await look.publish(50)
                try await look.broker.rabbitmqctl("set_disk_free_limit", "1000000GB")
                #expect(try await look.martlet("resume", "--socket", look.socket) == 0)
                let line = try await look.logs("broker.lost")
                #expect(line["error"]?.string?.contains("disk") == true)
                try await look.expect(
                    status: ["the broker blocks publishes", "disk"], unready: "the broker blocks publishes",
                    alert: "MartletBrokerBlocked", remedy: "rabbitmq-diagnostics alarms", log: line)
                try await look.broker.rabbitmqctl("set_disk_free_limit", "50MB")
            }
        }

        @Test func aPausedWorker() async throws {
            try await Operator.with("paused") { look in
                let pause = ["pause", "--socket", look.socket, "--reason"]
                #expect(try await look.martlet(pause + ["key rotation"]) == 0)
                let again = try await ChildProcess.run([Products.executable("martlet")] + pause + ["another"])
                let answer = again.output.joined()
                #expect(answer.contains("everything was paused already, paused by "), "\(answer)")
                #expect(answer.contains(": key rotation, ") && answer.hasSuffix("s ago"), "\(answer)")
                try await look.logs("worker.paused")
                try await look.expect(
                    status: ["paused", ": key rotation; martlet resume", "paused by an operator: run: martlet resume"],
                    unready: "paused by an operator", alert: "MartletPausedLong")
                #expect(try await look.martlet("resume", "--socket", look.socket) == 0)
                try await look.publish(5)
                try await look.fixture.told(of: look.samples).expectAcceptedAtOnce(look.samples)
                #expect(try await look.martlet("pause", "--socket", look.socket, "--key", "NOSUCHKEY0") == 1)
                for scope in [["--key", "DEMOKEY001"], ["--topic", "com.example.app"]] {
                    #expect(try await look.martlet(["pause", "--socket", look.socket] + scope) == 0)
                    let resumption = "martlet resume " + scope.joined(separator: " ")
                    try await look.expect(
                        status: [resumption], unready: nil, named: resumption, alert: "MartletPausedLong")
                    #expect(try await look.martlet(["resume", "--socket", look.socket] + scope) == 0)
                    #expect(try await look.ask("/readyz") == (200, "ok\n"))
                }
            }
        }
    }
}
