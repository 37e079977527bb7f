import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension ChangingWorkerTests {
    /// What changes of a worker's configuration while it runs.
    @Suite struct Reload {
        private static let taken = "configuration reloaded"
        private static let refused = "configuration rejected, keeping the previous one"
        private static let delayed = "configuration reload delayed, retrying"
        private static let restart = "these changes need a restart"
        private static let left = "previous lanes stopped"

        /// Messages that come all the time, while the worker is changed under them.
        private final class Load {
            let samples: [Sample]
            private let publishing: Task<Void, any Error>

            init(_ fixture: SystemFixture, apps: [String]) {
                let samples = (0..<400).flatMap { turn in
                    apps.enumerated().flatMap { Sample.make(5, from: 100_000 * $0 + 5 * turn, app: $1) }
                }
                self.samples = samples
                publishing = Task {
                    for first in stride(from: 0, to: samples.count, by: 5 * apps.count) {
                        try await fixture.publish(Array(samples[first..<first + 5 * apps.count]))
                        await fixture.testClient.pass(.milliseconds(50))
                    }
                }
            }

            func isOver() async throws { try await publishing.value }
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

            // An app comes, another goes over to another key, and gets a schema; lanes, limits and endpoints change.
            options.keys = [
                old.with(apps: ["com.example.comes"]), new.with(apps: ["com.example.moves"]),
            ]
            (options.lanes, options.inFlightMax, options.connectionsMax) = (3, 500, 3)
            options.namesSandbox = true
            options.sections = ["payload_schemas: {com.example.moves: shape.json}"]
            try await options.keys[0].makeKnown(at: fixture.apns)
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            #expect(try await worker.said(Self.taken).root["lanes"]?.int == 3)
            let come = Sample.make(50, from: 900_000, app: "com.example.comes")
            let sandbox = Sample.make(50, from: 910_000, app: "com.example.comes", environment: "sandbox")
            let misshapen = Sample.make(10, from: 920_000, app: "com.example.moves")
            try await fixture.publish(come + sandbox + misshapen)

            // The certificate is renewed, as a deployment does it.
            let renewed = try FixtureCertificate("com.example.renewed")
            try await renewed.makeKnown(at: fixture.apns)
            try fixture.replace("com.example.renewed.pem", renewed.pem)
            try await worker.said(Self.taken)

            // A configuration that is broken, and one whose queues are not there.
            try fixture.replace("martlet.yaml", "apps: {}\n")
            worker.send(signal: SIGHUP)
            try await worker.said(Self.refused)

            try fixture.write(options)
            worker.send(signal: SIGHUP)
            try await worker.said("configuration unchanged")

            try await load.isOver()
            let samples = load.samples + come + sandbox
            let results = try await fixture.told(of: samples + misshapen)
            results.expectAcceptedAtOnce(samples)
            #expect(results.odd(misshapen) { $0.map(\.error) == ["schema.maximum"] }.isEmpty)
            let interruptions = try worker.errors(of: "not ready")
            #expect(interruptions == [])
            let last = try await worker.stop().root
            #expect(last["message.requeued"]?.int == 0)
            #expect(last["message.duplicates"]?.int == 0)
            try await fixture.expectNothingLeft(dead: misshapen.count)
            let record = try await fixture.end()
            #expect(Pushes(record).notTakenOnce(samples) == [])
            let inSandbox = record.filter { $0.root["environment"]?.string == "sandbox" }
            #expect(Set(inSandbox.map { $0.root["apns_id"]?.string }) == Set(sandbox.map(\.id)))
        }

        /// As Kubernetes does it: all files of a volume lie behind one link, which then leads elsewhere.
        @Test func aKeyBehindALinkThatLeadsElsewhere() async throws {
            let key = try FixtureKey("LINKEDKEY1", apps: ["com.example.linked"])
            let fixture = try await SystemFixture("reload-link", SystemFixture.Options(keys: [key], delays: ["1s"]))
            for (version, pem) in [
                ("one", try key.pem), ("two", "none of this is a key"), ("three", try key.pem + "\n"),
            ] {
                try #require(mkdir(fixture.directory.file(version), 0o700) == 0)
                try fixture.directory.write("\(version)/\(key.fileName)", pem)
            }
            func lead(to version: String) throws {
                let link = fixture.directory.file("..data")
                try #require(symlink(version, link + ".new") == 0 && rename(link + ".new", link) == 0)
            }
            try lead(to: "one")
            try #require(unlink(fixture.directory.file(key.fileName)) == 0)
            try #require(symlink("..data/\(key.fileName)", fixture.directory.file(key.fileName)) == 0)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()

            try lead(to: "two")
            let refusal = try await worker.said(Self.refused).root["error"]?.string ?? "-"
            #expect(refusal.contains("martlet.yaml:") && refusal.contains("PEM"), "\(refusal)")
            let samples = Sample.make(20, app: "com.example.linked")
            try await fixture.publish(samples)
            try await fixture.told(of: samples).expectAcceptedAtOnce(samples)
            try lead(to: "three")
            try await worker.said(Self.taken)
            _ = try await worker.stop()
            #expect(try worker.count(of: Self.refused) == 1)
            try await fixture.end()
        }

        @Test func whatTheBrokerLacksIsRefusedUntilItIsThere() async throws {
            var options = SystemFixture.Options(delays: ["1s"])
            let fixture = try await SystemFixture("reload-lacking", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            options.delays = ["1s", "5s"]
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            let refusal = try await worker.said(Self.refused).root["error"]?.string ?? "-"
            #expect(refusal.contains("queue reload-lacking.wait.5s.1"))
            #expect(refusal.contains("are missing: run martlet topology apply --config "))
            let before = Sample.make(20)
            try await fixture.publish(before)
            try await fixture.told(of: before).expectAcceptedAtOnce(before)

            try await fixture.applyTopology()
            worker.send(signal: SIGHUP)
            try await worker.said(Self.taken)
            let after = Sample.make(20, from: 100)
            try await fixture.publish(after)
            try await fixture.told(of: after).expectAcceptedAtOnce(after)
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func aKeyThatIsGoneHasNoConnectionsLeft() async throws {
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
            try await fixture.untilAsked(1)
            options.keys = [kept.with(apps: ["com.example.one"])]
            options.sections = ["tracing: {endpoint: 'http://127.0.0.1:1/v1/traces'}"]
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            try await worker.said(Self.taken)
            #expect(
                try await worker.said(Self.restart).root["configuration.settings"]?.string == "tracing")
            try await fixture.told(of: open).expectAcceptedAtOnce(open)
            try await worker.said(Self.left)
            let connections = try await fixture.apns.ask("GET", "/v1/connections")
            #expect(connections.root["connections"]?.elements.compactMap { $0["key_id"]?.string } == [])
            let after = Sample.make(20, from: 100, app: "com.example.one")
            try await fixture.publish(after)
            try await fixture.told(of: after).expectAcceptedAtOnce(after)

            // What runs is what it started with.
            for (sections, warnings) in [(options.sections, 2), ([], 2)] {
                options.sections = sections
                options.connectionsMax += 1
                try fixture.write(options)
                worker.send(signal: SIGHUP)
                try await worker.said(Self.taken)
                try await worker.said(Self.left)
                #expect(try worker.count(of: Self.restart) == warnings)
            }
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func whatIsRenewedWhileTheBrokerIsAwayIsTakenWhenItIsBack() async throws {
            let broker = try await TroubledBroker.ofChanges
            let key = try FixtureKey("RENEWED001", apps: ["com.example.renewed", "com.example.shaped"])
            let options = SystemFixture.Options(
                keys: [key], delays: ["1s"], sections: ["payload_schemas: {com.example.shaped: shape.json}"],
                files: ["shape.json": "{}"])
            let fixture = try await SystemFixture("reload-away", broker: broker.url, options)
            try await fixture.applyTopology()
            let worker = try await fixture.worker()
            try await broker.stop()
            try await worker.said("not ready")
            let renewed = try FixtureKey(key.id, apps: key.apps)
            try await renewed.makeKnown(at: fixture.apns)
            try fixture.replace(key.fileName, try renewed.pem)
            let delay = try await worker.said(Self.delayed).root["error"]?.string ?? "-"
            #expect(delay.contains("cannot reach the broker"), "\(delay)")
            // While its lanes are yet to begin.
            try fixture.replace("shape.json", #"{"required":["b"]}"#)
            try await worker.said("payload schema reloaded")
            try await broker.start()
            try await worker.said(Self.taken)
            await fixture.testClient.collect(fixture.queue("results"))
            let good = Sample.make(20, app: "com.example.renewed")
            let misshapen = Sample.make(20, from: 100, app: "com.example.shaped")
            try await fixture.publish(good + misshapen)
            let results = try await fixture.told(of: good + misshapen)
            results.expectAcceptedAtOnce(good)
            #expect(results.odd(misshapen) { $0.map(\.error) == ["schema.required"] }.isEmpty)
            #expect(try worker.count(of: Self.refused) == 0 && worker.count(of: Self.delayed) == 1)
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func whatIsPausedAndResumedWhileLanesComeStaysSo() async throws {
            let key = try FixtureKey("PAUSEKEY01", apps: ["com.example.paused", "com.example.resumed"])
            var options = SystemFixture.Options(keys: [key], delays: ["1s"])
            try await Operator.with("reload-paused", on: TroubledBroker.ofChanges, options) { look in
                func set(_ word: String, _ app: String) async throws {
                    #expect(try await look.martlet(word, "--socket", look.socket, "--topic", app) == 0)
                }
                // Who may not read sees all that is there, and has no lane ready.
                options.url = try await look.broker.addUser("blind", password: "blind")
                try await look.broker.rabbitmqctl("set_permissions", "blind", "^$", ".*", "^$")
                try await set("pause", "com.example.resumed")
                options.admin = Operator.admin
                try look.fixture.write(options)
                look.worker.send(signal: SIGHUP)
                try await look.logs("queue.lost")
                try await set("pause", "com.example.paused")
                try await set("resume", "com.example.resumed")
                try await look.broker.rabbitmqctl("set_permissions", "blind", "^$", ".*", ".*")
                try await look.worker.said(Self.taken)
                let status = try JSONDocument(Array(await look.ask("/status").1.utf8)).root
                let paused = status["lanes"]?.elements.flatMap { $0["paused"]?.elements.map(\.string) ?? [] } ?? []
                #expect(!paused.isEmpty)
                #expect(paused.allSatisfy { $0?.contains("com.example.paused") == true }, "\(paused)")
            }
        }

        @Test func theCommandsForChannelsComeAndGo() async throws {
            var options = SystemFixture.Options(
                simulator: ["--listen-production-channels", "127.0.0.1:0"], delays: ["1s"])
            let on = ["channels: {reply_prefix: shop.}"]
            options.sections = on
            let fixture = try await SystemFixture("reload-channels", options)
            try await fixture.applyTopology()
            try await fixture.testClient.bind("shop.switched", to: fixture.queue("results"), "never")
            await fixture.testClient.collect("shop.switched")
            let queue = fixture.queue("channels")
            func ask(_ number: Int) async throws {
                let body = Array(#"{"app":"com.example.app","command":"list"}"#.utf8)
                var message = OutgoingMessage(
                    exchange: "", routingKey: queue, body: body, messageID: Sample(number).id)
                message.replyTo = "shop.switched"
                try await fixture.testClient.publish([message])
            }
            options.sections = []
            try fixture.write(options)
            let worker = try await fixture.worker()
            func turn(_ sections: [String]) async throws {
                options.sections = sections
                try fixture.write(options)
                worker.send(signal: SIGHUP)
                try await worker.said(Self.taken)
                try await worker.said(Self.left)
            }
            for round in 1...2 {
                // It waits until somebody takes it.
                try await ask(round)
                #expect(await fixture.testClient.collected("shop.switched").count == round - 1)
                try await turn(on)
                let replies = try await fixture.testClient.collected("shop.switched", atLeast: round)
                #expect(try replies.last?.json.root["outcome"]?.string == "done")
                try await turn([])
                try await ask(10 + round)
                let left = try await fixture.testClient.takeAll(from: queue).map(\.properties.messageID)
                #expect(left == [Sample(10 + round).id])
            }
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// APNs binds a connection to the apps that the team has when its first push comes.
        ///
        /// - Parameter isNew: to the worker, too; else its configuration knew the app before APNs did.
        @Test(arguments: [true, false]) func anAppThatTheTeamGetsIsTaken(isNew: Bool) async throws {
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
            try await fixture.told(of: before).expectAcceptedAtOnce(before)

            try await both.makeKnown(at: fixture.apns)
            if isNew {
                try fixture.write(options)
                worker.send(signal: SIGHUP)
                try await worker.said(Self.taken)
            }
            var samples: [Sample] = []
            for (first, count) in [(100, 1), (200, 20)] {
                let more = Sample.make(count, from: first, app: "com.example.gets")
                try await fixture.publish(more)
                try await fixture.told(of: more).expectAcceptedAtOnce(more)
                samples += more
            }
            _ = try await worker.stop()
            let pushes = try Pushes(await fixture.end())
            // Where nobody could know, the refusal of the first has all connections replaced.
            #expect(pushes[samples[0]].map(\.status) == (isNew ? [200] : [400, 200]))
            #expect(samples.dropFirst().allSatisfy { pushes[$0].map(\.status) == [200] })
        }

        @Test func lanesThatLeaveAreShownAndWhatTheyCountedGoesOn() async throws {
            var options = SystemFixture.Options(simulator: ["--delay-ms", "3000"], delays: ["1s"])
            try await Operator.with("reload-shown", on: TroubledBroker.ofChanges, options) { one in
                func status() async throws -> JSONDocument { try JSONDocument(await one.ask("/status").1) }
                try await one.publish(20)
                try await one.fixture.untilAsked(1)
                options.admin = "{listen: \"127.0.0.1:0\", socket: worker.sock}"
                options.inFlightMax = 500
                try one.fixture.write(options)
                one.worker.send(signal: SIGHUP)
                try await one.worker.said(Self.taken)
                let leaving = try await status()
                #expect(leaving.root["lanes_leaving"]?.elements.map { $0["in_flight"]?.int } == [20])
                #expect(leaving.root["lanes"]?.elements.map { $0["in_flight"]?.int } == [0])
                try await one.worker.said("previous lanes stopped")
                #expect(try await status().root["lanes_leaving"]?.count == 0)
                try await one.publish(1)
                _ = try await one.fixture.told(of: one.samples)
                let metrics = try await one.ask("/metrics").1
                let connects = metrics.firstMatch(of: /\nmartlet_apns_connects_total\{.*key_id="DEMOKEY001"\} (\d+)/)
                #expect(connects.flatMap { Int($0.output.1) } ?? 0 >= 2, "of the lanes before, and of these")
            }
        }

        @Test func aWorkerThatWaitsForItsBrokerTakesAnother() async throws {
            var options = SystemFixture.Options(delays: ["1s"])
            let fixture = try await SystemFixture("reload-waiting", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            options.url = "amqp://127.0.0.1:1"
            try fixture.write(options)
            let worker = try await fixture.startWorker()
            try await worker.said("broker unreachable, retrying")
            options.url = nil
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            try await worker.said(Self.taken)
            try await worker.said("ready")
            let samples = Sample.make(20)
            try await fixture.publish(samples)
            try await fixture.told(of: samples).expectAcceptedAtOnce(samples)
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// What a generation leaves behind would be seen after some.
        @Test func manyChangesLeaveNothingBehind() async throws {
            var options = SystemFixture.Options(delays: ["1s"], lanes: 2)
            let fixture = try await SystemFixture("reload-often", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            func change(_ turns: Range<Int>) async throws {
                for turn in turns {
                    options.inFlightMax = 100 + turn
                    try fixture.write(options)
                    worker.send(signal: SIGHUP)
                    try await worker.said(Self.taken)
                    let samples = Sample.make(20, from: 100 * turn)
                    try await fixture.publish(samples)
                    try await fixture.told(of: samples).expectAcceptedAtOnce(samples)
                    try await worker.said(Self.left)
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
        func aWorkerThatIsToldToStopWhileItChangesStops(isTaken: Bool) async throws {
            var options = SystemFixture.Options(simulator: ["--delay-ms", "2000"], delays: ["1s"])
            let fixture = try await SystemFixture("reload-stopped-\(isTaken)", options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let samples = Sample.make(50)
            try await fixture.publish(samples)
            try await fixture.untilAsked(1)
            options.lanes = 2
            try fixture.write(options)
            worker.send(signal: SIGHUP)
            if isTaken { try await worker.said(Self.taken) }
            _ = try await worker.stop()
            let pushes = try Pushes(fixture.recorded())
            #expect(samples.allSatisfy { pushes.taken($0) <= 1 })
            try await fixture.end()
        }
    }
}
