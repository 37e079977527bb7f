import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension ChangingWorkerTests {
    /// Configuration changes of a running worker.
    @Suite struct Reload {
        private static let applied = "configuration reloaded"
        private static let refused = "configuration rejected, keeping the previous one"
        private static let delayed = "configuration reload delayed, retrying"
        private static let restart = "these changes need a restart"
        private static let lanesStopped = "previous lanes stopped"

        /// A steady load of requests during the reloads.
        private final class Load {
            let samples: [Sample]
            private let publishing: Task<Void, any Error>

            init(_ fixture: SystemFixture, apps: [String]) {
                let samples = (0..<400).flatMap { number in
                    apps.enumerated().flatMap { Sample.make(5, from: 100_000 * $0 + 5 * number, app: $1) }
                }
                self.samples = samples
                publishing = Task {
                    for first in stride(from: 0, to: samples.count, by: 5 * apps.count) {
                        try await fixture.publish(Array(samples[first..<first + 5 * apps.count]))
                        await fixture.testClient.sleep(for: .milliseconds(50))
                    }
                }
            }

            func finish() async throws { try await publishing.value }
        }

        @Test func everythingChangesUnderLoad() async throws {
            let (old, new) = (
                try FixtureKey("OLDKEY0001", apps: ["com.example.moves"]), try FixtureKey("NEWKEY0001", apps: [])
            )
            let certificate = try FixtureCertificate("com.example.renewed")
            var options = SystemFixture.Options(
                keys: [old, new], certificates: [certificate], delays: ["1s"], lanes: 2, hasSandbox: true,
                namesSandbox: false, files: ["shape.json": #"{"properties":{"a":{"maximum":899999}}}"#])
            let fixture = try await SystemFixture("reload", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let load = Load(fixture, apps: ["com.example.app", "com.example.moves", "com.example.renewed"])

            // One app is added. Another changes its key and gets a payload schema. Lanes, limits and endpoints change.
            options.keys = [
                old.with(apps: ["com.example.comes"]), new.with(apps: ["com.example.moves"]),
            ]
            (options.lanes, options.inFlightMax, options.connectionsMax) = (3, 500, 3)
            options.namesSandbox = true
            options.sections = ["payload_schemas: {com.example.moves: shape.json}"]
            try await options.keys[0].register(at: fixture.apns)
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            #expect(try await worker.waitForLog(Self.applied).root["lanes"]?.int == 3)
            let added = Sample.make(50, from: 900_000, app: "com.example.comes")
            let sandbox = Sample.make(50, from: 910_000, app: "com.example.comes", environment: "sandbox")
            let misshapen = Sample.make(10, from: 920_000, app: "com.example.moves")
            try await fixture.publish(added + sandbox + misshapen)

            // Replace the certificate file, as a deployment does.
            let renewed = try FixtureCertificate("com.example.renewed")
            try await renewed.register(at: fixture.apns)
            try fixture.replace("com.example.renewed.pem", renewed.pem)
            try await worker.waitForLog(Self.applied)

            // This configuration is invalid, so the worker keeps the previous one.
            try fixture.replace("martlet.yaml", "apps: {}\n")
            worker.send(signal: SIGHUP)
            try await worker.waitForLog(Self.refused)

            try fixture.write(options)
            worker.send(signal: SIGHUP)
            try await worker.waitForLog("configuration unchanged")

            try await load.finish()
            let samples = load.samples + added + sandbox
            let results = try await fixture.results(of: samples + misshapen)
            results.expectAcceptedOnFirstAttempt(samples)
            #expect(results.unexpected(misshapen) { $0.map(\.error) == ["schema.maximum"] }.isEmpty)
            let interruptions = try worker.errors(of: "not ready")
            #expect(interruptions == [])
            let last = try await worker.stop().root
            #expect(last["message.requeued"]?.int == 0)
            #expect(last["message.duplicates"]?.int == 0)
            try await fixture.expectNothingLeft(dead: misshapen.count)
            let record = try await fixture.end()
            #expect(Pushes(record).notAcceptedOnce(samples) == [])
            let inSandbox = record.filter { $0.root["environment"]?.string == "sandbox" }
            #expect(Set(inSandbox.map { $0.root["apns_id"]?.string }) == Set(sandbox.map(\.id)))
        }

        /// Switches the folder of the key file with one symbolic link, as Kubernetes does for a volume.
        @Test func aKeyBehindASwitchedSymbolicLink() async throws {
            let key = try FixtureKey("LINKEDKEY1", apps: ["com.example.linked"])
            let fixture = try await SystemFixture("reload-link", SystemFixture.Options(keys: [key], delays: ["1s"]))
            for (version, pem) in [
                ("one", try key.pem), ("two", "none of this is a key"), ("three", try key.pem + "\n"),
            ] {
                try #require(mkdir(fixture.directory.file(version), 0o700) == 0)
                try fixture.directory.write("\(version)/\(key.fileName)", pem)
            }
            func link(to version: String) throws {
                let path = fixture.directory.file("..data")
                try #require(symlink(version, path + ".new") == 0 && rename(path + ".new", path) == 0)
            }
            try link(to: "one")
            try #require(unlink(fixture.directory.file(key.fileName)) == 0)
            try #require(symlink("..data/\(key.fileName)", fixture.directory.file(key.fileName)) == 0)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()

            try link(to: "two")
            let refusal = try await worker.waitForLog(Self.refused).root["error"]?.string ?? "-"
            #expect(refusal.contains("martlet.yaml:") && refusal.contains("PEM"), "\(refusal)")
            let samples = Sample.make(20, app: "com.example.linked")
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            try link(to: "three")
            try await worker.waitForLog(Self.applied)
            _ = try await worker.stop()
            #expect(try worker.count(of: Self.refused) == 1)
            try await fixture.end()
        }

        @Test func aReloadThatNeedsMissingQueuesIsRejected() async throws {
            var options = SystemFixture.Options(delays: ["1s"])
            let fixture = try await SystemFixture("reload-lacking", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            options.delays = ["1s", "5s"]
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            let refusal = try await worker.waitForLog(Self.refused).root["error"]?.string ?? "-"
            #expect(refusal.contains("queue reload-lacking.wait.5s.1"))
            #expect(refusal.contains("are missing: run martlet topology apply --config "))
            let before = Sample.make(20)
            try await fixture.publish(before)
            try await fixture.results(of: before).expectAcceptedOnFirstAttempt(before)

            try await fixture.applyTopology()
            worker.send(signal: SIGHUP)
            try await worker.waitForLog(Self.applied)
            let after = Sample.make(20, from: 100)
            try await fixture.publish(after)
            try await fixture.results(of: after).expectAcceptedOnFirstAttempt(after)
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func aRemovedKeyKeepsNoConnections() async throws {
            let (gone, kept) = (
                try FixtureKey("GONEKEY001", apps: ["com.example.one"]), try FixtureKey("KEPTKEY001", apps: [])
            )
            var options = SystemFixture.Options(simulator: ["--delay-ms", "1000"], keys: [gone, kept], delays: ["1s"])
            let fixture = try await SystemFixture("reload-gone", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let open = Sample.make(20, app: "com.example.one")
            try await fixture.publish(open)
            try await fixture.waitForUnansweredRequests(1)
            options.keys = [kept.with(apps: ["com.example.one"])]
            options.sections = ["tracing: {endpoint: 'http://127.0.0.1:1/v1/traces'}"]
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            try await worker.waitForLog(Self.applied)
            #expect(
                try await worker.waitForLog(Self.restart).root["configuration.settings"]?.string == "tracing")
            try await fixture.results(of: open).expectAcceptedOnFirstAttempt(open)
            try await worker.waitForLog(Self.lanesStopped)
            let connections = try await fixture.apns.request("GET", "/v1/connections")
            #expect(connections.root["connections"]?.elements.compactMap { $0["key_id"]?.string } == [])
            let after = Sample.make(20, from: 100, app: "com.example.one")
            try await fixture.publish(after)
            try await fixture.results(of: after).expectAcceptedOnFirstAttempt(after)

            // The worker keeps the tracing settings with which it started.
            for (sections, warnings) in [(options.sections, 2), ([], 2)] {
                options.sections = sections
                options.connectionsMax += 1
                try fixture.write(options)
                worker.send(signal: SIGHUP)
                try await worker.waitForLog(Self.applied)
                try await worker.waitForLog(Self.lanesStopped)
                #expect(try worker.count(of: Self.restart) == warnings)
            }
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func filesRenewedDuringABrokerOutageAreLoadedAfterIt() async throws {
            let broker = try await DisruptableBroker.forChangingWorkers
            let key = try FixtureKey("RENEWED001", apps: ["com.example.renewed", "com.example.shaped"])
            let options = SystemFixture.Options(
                keys: [key], delays: ["1s"], sections: ["payload_schemas: {com.example.shaped: shape.json}"],
                files: ["shape.json": "{}"])
            let fixture = try await SystemFixture("reload-away", broker: broker.url, options)
            try await fixture.applyTopology()
            let worker = try await fixture.worker()
            let start = ContinuousClock.now
            try await broker.stop()
            try await worker.waitForLog("not ready")
            let renewed = try FixtureKey(key.id, apps: key.apps)
            try await renewed.register(at: fixture.apns)
            try fixture.replace(key.fileName, try renewed.pem)
            let delay = try await worker.waitForLog(Self.delayed).root["error"]?.string ?? "-"
            #expect(delay.contains("cannot reach the broker"), "\(delay)")
            // The new lanes have not started yet.
            try fixture.replace("shape.json", #"{"required":["b"]}"#)
            try await worker.waitForLog("payload schema reloaded")
            try await broker.start()
            try await worker.waitForLog(Self.applied)
            await fixture.testClient.collect(fixture.queue("results"))
            let good = Sample.make(20, app: "com.example.renewed")
            let misshapen = Sample.make(20, from: 100, app: "com.example.shaped")
            try await fixture.publish(good + misshapen)
            let results = try await fixture.results(of: good + misshapen)
            results.expectAcceptedOnFirstAttempt(good)
            #expect(results.unexpected(misshapen) { $0.map(\.error) == ["schema.required"] }.isEmpty)
            // The worker retries every 10 s, but logs the delay once a minute.
            let delaysMax = 1 + Int((ContinuousClock.now - start) / .seconds(60))
            #expect(try worker.count(of: Self.refused) == 0)
            #expect(try (1...delaysMax).contains(worker.count(of: Self.delayed)))
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func pausesSetDuringAReloadStay() async throws {
            let key = try FixtureKey("PAUSEKEY01", apps: ["com.example.paused", "com.example.resumed"])
            var options = SystemFixture.Options(keys: [key], delays: ["1s"])
            try await OperatorHarness.with("reload-paused", on: DisruptableBroker.forChangingWorkers, options) {
                harness in
                func set(_ word: String, _ app: String) async throws {
                    #expect(try await harness.martlet(word, "--socket", harness.socket, "--topic", app) == 0)
                }
                // A user without read permission can check the topology, but the lanes of this user cannot consume.
                options.url = try await harness.broker.addUser("blind", password: "blind")
                try await harness.broker.rabbitmqctl("set_permissions", "blind", "^$", ".*", "^$")
                try await set("pause", "com.example.resumed")
                options.admin = OperatorHarness.admin
                try harness.fixture.write(options)
                harness.worker.send(signal: SIGHUP)
                try await harness.logs("queue.lost")
                try await set("pause", "com.example.paused")
                try await set("resume", "com.example.resumed")
                try await harness.broker.rabbitmqctl("set_permissions", "blind", "^$", ".*", ".*")
                try await harness.worker.waitForLog(Self.applied)
                let status = try JSONDocument(Array(await harness.request("/status").1.utf8)).root
                let paused = status["lanes"]?.elements.flatMap { $0["paused"]?.elements.map(\.string) ?? [] } ?? []
                #expect(!paused.isEmpty)
                #expect(paused.allSatisfy { $0?.contains("com.example.paused") == true }, "\(paused)")
            }
        }

        @Test func channelCommandsAreEnabledAndDisabled() async throws {
            var options = SystemFixture.Options(
                simulator: ["--listen-production-channels", "127.0.0.1:0"], delays: ["1s"])
            let on = ["channels: {reply_prefix: shop.}"]
            options.sections = on
            let fixture = try await SystemFixture("reload-channels", options)
            try await fixture.applyTopology()
            try await fixture.testClient.bind("shop.switched", to: fixture.queue("results"), "never")
            await fixture.testClient.collect("shop.switched")
            let queue = fixture.queue("channels")
            func publishCommand(_ number: Int) async throws {
                let body = Array(#"{"app":"com.example.app","command":"list"}"#.utf8)
                var message = OutgoingMessage(
                    exchange: "", routingKey: queue, body: body, messageID: Sample(number).id)
                message.replyTo = "shop.switched"
                try await fixture.testClient.publish([message])
            }
            options.sections = []
            try fixture.write(options)
            let worker = try await fixture.worker()
            func reload(_ sections: [String]) async throws {
                options.sections = sections
                try fixture.write(options)
                worker.send(signal: SIGHUP)
                try await worker.waitForLog(Self.applied)
                try await worker.waitForLog(Self.lanesStopped)
            }
            for round in 1...2 {
                // The command waits in the queue until a worker consumes it.
                try await publishCommand(round)
                #expect(await fixture.testClient.collected("shop.switched").count == round - 1)
                try await reload(on)
                let replies = try await fixture.testClient.collected("shop.switched", atLeast: round)
                #expect(try replies.last?.json.root["outcome"]?.string == "done")
                try await reload([])
                try await publishCommand(10 + round)
                let left = try await fixture.testClient.getAll(from: queue).map(\.properties.messageID)
                #expect(left == [Sample(10 + round).id])
            }
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// Adds an app to the team after the first push.
        ///
        /// APNs binds a connection to the apps that the team has at the time of the connection's first push.
        ///
        /// - Parameter isNew: Whether the app is also new to the worker. Otherwise the configuration contains it from
        ///   the start.
        @Test(arguments: [true, false]) func anAppAddedToTheTeamIsPushedTo(isNew: Bool) async throws {
            let key = try FixtureKey("TEAMKEY001", apps: ["com.example.one"])
            let both = key.with(apps: ["com.example.one", "com.example.gets"])
            var options = SystemFixture.Options(keys: [key], delays: ["1s"])
            let fixture = try await SystemFixture("reload-gets-\(isNew)", options)
            options.keys = [both]
            if !isNew { try fixture.write(options) }
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let before = Sample.make(20, app: "com.example.one")
            try await fixture.publish(before)
            try await fixture.results(of: before).expectAcceptedOnFirstAttempt(before)

            try await both.register(at: fixture.apns)
            if isNew {
                try fixture.write(options)
                worker.send(signal: SIGHUP)
                try await worker.waitForLog(Self.applied)
            }
            var samples: [Sample] = []
            for (first, count) in [(100, 1), (200, 20)] {
                let more = Sample.make(count, from: first, app: "com.example.gets")
                try await fixture.publish(more)
                try await fixture.results(of: more).expectAcceptedOnFirstAttempt(more)
                samples += more
            }
            _ = try await worker.stop()
            let pushes = try Pushes(await fixture.end())
            // If the worker cannot know about the change, the first refusal makes the worker use a new connection.
            #expect(pushes[samples[0]].map(\.status) == (isNew ? [200] : [400, 200]))
            #expect(samples.dropFirst().allSatisfy { pushes[$0].map(\.status) == [200] })
        }

        @Test func drainingLanesAreShownAndTheirCountersContinue() async throws {
            var options = SystemFixture.Options(simulator: ["--delay-ms", "3000"], delays: ["1s"])
            try await OperatorHarness.with("reload-shown", on: DisruptableBroker.forChangingWorkers, options) {
                harness in
                func status() async throws -> JSONDocument { try JSONDocument(await harness.request("/status").1) }
                try await harness.publish(20)
                try await harness.fixture.waitForUnansweredRequests(1)
                options.admin = "{listen: \"127.0.0.1:0\", socket: worker.sock}"
                options.inFlightMax = 500
                try harness.fixture.write(options)
                harness.worker.send(signal: SIGHUP)
                try await harness.worker.waitForLog(Self.applied)
                let leaving = try await status()
                #expect(leaving.root["lanes_leaving"]?.elements.map { $0["in_flight"]?.int } == [20])
                #expect(leaving.root["lanes"]?.elements.map { $0["in_flight"]?.int } == [0])
                try await harness.worker.waitForLog("previous lanes stopped")
                #expect(try await status().root["lanes_leaving"]?.count == 0)
                try await harness.publish(1)
                _ = try await harness.fixture.results(of: harness.samples)
                let metrics = try await harness.request("/metrics").1
                let connects = metrics.firstMatch(of: /\nmartlet_apns_connects_total\{.*key_id="DEMOKEY001"\} (\d+)/)
                #expect(
                    connects.flatMap { Int($0.output.1) } ?? 0 >= 2, "connections of previous or new lanes are missing")
            }
        }

        @Test func aWorkerThatWaitsForItsBrokerCanSwitchToAnother() async throws {
            var options = SystemFixture.Options(delays: ["1s"])
            let fixture = try await SystemFixture("reload-waiting", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            options.url = "amqp://127.0.0.1:1"
            try fixture.write(options)
            let worker = try await fixture.startWorker()
            try await worker.waitForLog("broker unreachable, retrying")
            options.url = nil
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            try await worker.waitForLog(Self.applied)
            try await worker.waitForLog("ready")
            let samples = Sample.make(20)
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// Reloads several times, so that a leak of one reload becomes measurable.
        @Test func manyReloadsLeakNothing() async throws {
            var options = SystemFixture.Options(delays: ["1s"], lanes: 2)
            let fixture = try await SystemFixture("reload-often", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            func change(_ numbers: Range<Int>) async throws {
                for number in numbers {
                    options.inFlightMax = 100 + number
                    try fixture.write(options)
                    worker.send(signal: SIGHUP)
                    try await worker.waitForLog(Self.applied)
                    let samples = Sample.make(20, from: 100 * number)
                    try await fixture.publish(samples)
                    try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
                    try await worker.waitForLog(Self.lanesStopped)
                }
            }
            try await change(0..<5)
            let (descriptors, threads, bytes) = (worker.descriptorCount, worker.threadCount, worker.residentBytes)
            try await change(5..<30)
            #expect(worker.descriptorCount <= descriptors && worker.threadCount <= threads)
            #expect(worker.residentBytes - bytes < 16 << 20, "\(bytes) bytes, then \(worker.residentBytes)")
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test(arguments: [true, false])
        func aWorkerStopsDuringAReload(isApplied: Bool) async throws {
            var options = SystemFixture.Options(simulator: ["--delay-ms", "2000"], delays: ["1s"])
            let fixture = try await SystemFixture("reload-stopped-\(isApplied)", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let samples = Sample.make(50)
            try await fixture.publish(samples)
            try await fixture.waitForUnansweredRequests(1)
            options.lanes = 2
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            if isApplied { try await worker.waitForLog(Self.applied) }
            _ = try await worker.stop()
            let pushes = try Pushes(fixture.recorded())
            #expect(samples.allSatisfy { pushes.acceptedCount(of: $0) <= 1 })
            try await fixture.end()
        }
    }
}
