import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// What changes of a worker's configuration while it runs.
    @Suite struct Reload {
        private static let taken = "the configuration was read anew and is in force"
        private static let refused = "the configuration was read anew and is refused; the one before stays in force"

        /// Messages that come all the time, while the worker is changed under them.
        private final class Load {
            let samples: [Sample]
            private let publishing: Task<Void, any Error>

            init(_ stage: Stage, apps: [String]) {
                let samples = (0..<400).flatMap { turn in
                    apps.enumerated().flatMap { Sample.make(5, from: 100_000 * $0 + 5 * turn, app: $1) }
                }
                self.samples = samples
                publishing = Task {
                    for first in stride(from: 0, to: samples.count, by: 5 * apps.count) {
                        try await stage.publish(Array(samples[first..<first + 5 * apps.count]))
                        await stage.desk.pass(.milliseconds(50))
                    }
                }
            }

            func isOver() async throws { try await publishing.value }
        }

        @Test func everythingChangesUnderLoad() async throws {
            let (old, new) = (
                try StageKey("OLDKEY0001", apps: ["com.example.moves"]), try StageKey("NEWKEY0001", apps: [])
            )
            let certificate = try StageCertificate("com.example.renewed")
            var options = Stage.Options(keys: [old, new], certificates: [certificate], delays: ["1s"], lanes: 2)
            let stage = try await Stage("reload", options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            let load = Load(stage, apps: ["com.example.app", "com.example.moves", "com.example.renewed"])

            // An app comes, another goes over to another key, lanes and limits change.
            options.keys = [
                old.with(apps: ["com.example.comes"]), new.with(apps: ["com.example.moves"]),
            ]
            (options.lanes, options.inFlightMax, options.connectionsMax) = (3, 500, 3)
            try await options.keys[0].makeKnown(at: stage.apns)
            try stage.write(options)
            worker.send(signal: SIGHUP)
            #expect(try await worker.said(Self.taken).root["lanes"]?.int == 3)
            let come = Sample.make(50, from: 900_000, app: "com.example.comes")
            try await stage.publish(come)

            // The certificate is renewed, as a deployment does it.
            let renewed = try StageCertificate("com.example.renewed")
            try await renewed.makeKnown(at: stage.apns)
            try stage.replace("com.example.renewed.pem", renewed.pem)
            try await worker.said(Self.taken)

            // A configuration that is broken, and one whose queues are not there.
            try stage.replace("martlet.yaml", "apps: {}\n")
            worker.send(signal: SIGHUP)
            try await worker.said(Self.refused)

            try stage.write(options)
            worker.send(signal: SIGHUP)
            try await worker.said("the configuration says what it said")

            try await load.isOver()
            let samples = load.samples + come
            try await stage.told(of: samples).expectAcceptedAtOnce(samples)
            #expect(try worker.count(of: "not ready") == 0)
            let last = try await worker.stop().root
            #expect(last["message.requeued"]?.int == 0)
            #expect(last["message.duplicates"]?.int == 0)
            try await stage.expectNothingLeft()
            #expect(try Pushes(await stage.end()).notTakenOnce(samples) == [])
        }

        /// As Kubernetes does it: all files of a volume lie behind one link, which then leads elsewhere.
        @Test func aKeyBehindALinkThatLeadsElsewhere() async throws {
            let key = try StageKey("LINKEDKEY1", apps: ["com.example.linked"])
            let stage = try await Stage("reload-link", Stage.Options(keys: [key], delays: ["1s"]))
            for (version, pem) in [
                ("one", try key.pem), ("two", "none of this is a key"), ("three", try key.pem + "\n"),
            ] {
                try #require(mkdir(stage.directory.file(version), 0o700) == 0)
                try stage.directory.write("\(version)/\(key.fileName)", pem)
            }
            func lead(to version: String) throws {
                let link = stage.directory.file("..data")
                try #require(symlink(version, link + ".new") == 0 && rename(link + ".new", link) == 0)
            }
            try lead(to: "one")
            try #require(unlink(stage.directory.file(key.fileName)) == 0)
            try #require(symlink("..data/\(key.fileName)", stage.directory.file(key.fileName)) == 0)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()

            try lead(to: "two")
            let refusal = try await worker.said(Self.refused).root["error"]?.string ?? "-"
            #expect(refusal.contains("martlet.yaml:") && refusal.contains("PEM"), "\(refusal)")
            let samples = Sample.make(20, app: "com.example.linked")
            try await stage.publish(samples)
            try await stage.told(of: samples).expectAcceptedAtOnce(samples)
            try lead(to: "three")
            try await worker.said(Self.taken)
            _ = try await worker.stop()
            #expect(try worker.count(of: Self.refused) == 1)
            try await stage.end()
        }

        @Test func whatTheBrokerLacksIsRefusedUntilItIsThere() async throws {
            var options = Stage.Options(delays: ["1s"])
            let stage = try await Stage("reload-lacking", options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            options.delays = ["1s", "5s"]
            try stage.write(options)
            worker.send(signal: SIGHUP)
            let refusal = try await worker.said(Self.refused).root["error"]?.string ?? "-"
            #expect(refusal.contains("queue reload-lacking.wait.5s.1"))
            #expect(refusal.hasSuffix("are missing: martlet topology apply"))
            let before = Sample.make(20)
            try await stage.publish(before)
            try await stage.told(of: before).expectAcceptedAtOnce(before)

            try await stage.applyTopology()
            worker.send(signal: SIGHUP)
            try await worker.said(Self.taken)
            let after = Sample.make(20, from: 100)
            try await stage.publish(after)
            try await stage.told(of: after).expectAcceptedAtOnce(after)
            _ = try await worker.stop()
            try await stage.end()
        }

        @Test func aKeyThatIsGoneHasNoConnectionsLeft() async throws {
            let (gone, kept) = (
                try StageKey("GONEKEY001", apps: ["com.example.one"]), try StageKey("KEPTKEY001", apps: [])
            )
            var options = Stage.Options(simulator: ["--delay-ms", "1000"], keys: [gone, kept], delays: ["1s"])
            let stage = try await Stage("reload-gone", options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            let open = Sample.make(20, app: "com.example.one")
            try await stage.publish(open)
            try await stage.untilAsked(1)
            options.keys = [kept.with(apps: ["com.example.one"])]
            options.sections = ["tracing: {endpoint: 'http://127.0.0.1:1/v1/traces'}"]
            try stage.write(options)
            worker.send(signal: SIGHUP)
            try await worker.said(Self.taken)
            #expect(
                try await worker.said("what has changed here takes a restart").root["configuration.settings"]?.string
                    == "tracing")
            try await stage.told(of: open).expectAcceptedAtOnce(open)
            try await worker.said("the lanes before have ended")
            let connections = try await stage.apns.ask("GET", "/v1/connections")
            #expect(connections.root["connections"]?.elements.compactMap { $0["key_id"]?.string } == [])
            let after = Sample.make(20, from: 100, app: "com.example.one")
            try await stage.publish(after)
            try await stage.told(of: after).expectAcceptedAtOnce(after)
            _ = try await worker.stop()
            try await stage.end()
        }

        @Test func aWorkerThatWaitsForItsBrokerTakesAnother() async throws {
            var options = Stage.Options(delays: ["1s"])
            let stage = try await Stage("reload-waiting", options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            options.url = "amqp://127.0.0.1:1"
            try stage.write(options)
            let worker = try await stage.startWorker()
            try await worker.said("cannot reach the broker; trying on")
            options.url = nil
            try stage.write(options)
            worker.send(signal: SIGHUP)
            try await worker.said(Self.taken)
            try await worker.said("ready")
            let samples = Sample.make(20)
            try await stage.publish(samples)
            try await stage.told(of: samples).expectAcceptedAtOnce(samples)
            _ = try await worker.stop()
            try await stage.end()
        }

        /// What a generation leaves behind would be seen after some.
        @Test func manyChangesLeaveNothingBehind() async throws {
            var options = Stage.Options(delays: ["1s"], lanes: 2)
            let stage = try await Stage("reload-often", options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            func change(_ turns: Range<Int>) async throws {
                for turn in turns {
                    options.inFlightMax = 100 + turn
                    try stage.write(options)
                    worker.send(signal: SIGHUP)
                    try await worker.said(Self.taken)
                    let samples = Sample.make(20, from: 100 * turn)
                    try await stage.publish(samples)
                    try await stage.told(of: samples).expectAcceptedAtOnce(samples)
                    try await worker.said("the lanes before have ended")
                }
            }
            try await change(0..<5)
            let (descriptors, threads, bytes) = (worker.descriptorCount, worker.threadCount, worker.residentBytes)
            try await change(5..<30)
            #expect(worker.descriptorCount <= descriptors && worker.threadCount <= threads)
            #expect(worker.residentBytes - bytes < 16 << 20, "\(bytes) bytes, then \(worker.residentBytes)")
            _ = try await worker.stop()
            try await stage.end()
        }

        @Test(arguments: [true, false])
        func aWorkerThatIsToldToStopWhileItChangesStops(isTaken: Bool) async throws {
            var options = Stage.Options(simulator: ["--delay-ms", "2000"], delays: ["1s"])
            let stage = try await Stage("reload-stopped-\(isTaken)", options)
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            let samples = Sample.make(50)
            try await stage.publish(samples)
            try await stage.untilAsked(1)
            options.lanes = 2
            try stage.write(options)
            worker.send(signal: SIGHUP)
            if isTaken { try await worker.said(Self.taken) }
            _ = try await worker.stop()
            let pushes = try Pushes(stage.recorded())
            #expect(samples.allSatisfy { pushes.taken($0) <= 1 })
            try await stage.end()
        }
    }
}
