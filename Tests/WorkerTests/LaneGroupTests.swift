import Crypto
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Configuration
@testable import Delivery
@testable import Worker

/// The handles of a generation's lanes, and the events that follow from the lanes' reports.
@Suite struct LaneGroupTests {
    private final class Handler: RolloutHandler, @unchecked Sendable {
        override func handle(_ event: WorkerRollout.Event) { Issue.record("unexpected event: \(event)") }
    }

    /// Lanes whose threads do not run, so that only the test reports for them.
    private final class IdleLanes {
        private var threads: [LaneThread] = []

        func next() throws(TransportError) -> LaneThread {
            let thread = try LaneThread()
            threads.append(thread)
            return thread
        }

        /// Runs the loops, because a loop holds posted work until the work has run, and the work holds the loop.
        deinit {
            for thread in threads {
                thread.loop.stop()
                thread.loop.run()
            }
        }
    }

    private let folder: TemporaryDirectory
    private let group: LaneGroup
    private let idle = IdleLanes()
    private let loop = VirtualLoop(seed: 1)

    init() throws {
        folder = try TemporaryDirectory("lanes")
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        try folder.write("shape.json", "{}")
        let path = try folder.write(
            "martlet.yaml",
            """
            amqp: {url: amqp://127.0.0.1}
            apns: {keys: [{key_id: ABCDE12345, team_id: TEAM123456, key_file: key.p8}]}
            apps: {com.example.app: {}}
            payload_schemas: {com.example.app: shape.json}
            lanes: 3
            """)
        let version = try PreparedVersion(ConfigurationVersion(readFrom: path))
        group = LaneGroup(WorkerRollout.Generation(number: 7, version: version), log: .silent)
    }

    private func start() throws { try group.start { _ throws(TransportError) in try idle.next() } }

    private func finish() -> [String] { group.finish(deadlineSeconds: 1, handler: Handler(), on: loop).map(Self.text) }

    private static func text(_ event: WorkerRollout.Event) -> String {
        switch event {
        case .stoppedConsuming(let number): "\(number) stopped consuming"
        case .laneDrained(let unfinished): "a lane drained, \(unfinished) unfinished"
        case .ended(let number): "\(number) ended"
        case .readinessChanged(let number, let isReady, let lane):
            "\(number) \(isReady ? "ready" : "not ready") by \(lane)"
        default: "\(event)"
        }
    }

    @Test func lanesWithoutAThreadHaveEnded() {
        #expect(throws: TransportError.self) {
            try group.start { index throws(TransportError) in
                if index == 1 { throw TransportError(.resources, "cannot start a thread") }
                return try idle.next()
            }
        }
        #expect(group.undrained.count == 1 && group.responsive.map { $0 != nil } == [true, false, false])
        #expect(finish() == [])
        #expect(
            group.laneDrained(0, unfinished: 2).map(Self.text) == [
                "a lane drained, 2 unfinished", "7 stopped consuming",
            ])
        #expect(group.undrained.isEmpty && !group.hasEnded)
        #expect(group.laneEnded(0).map(Self.text) == ["7 ended"])
        #expect(group.hasEnded)
    }

    @Test func lanesThatNeverStartedEndImmediately() {
        #expect(!group.isStarted && group.undrained.isEmpty)
        #expect(finish() == ["7 stopped consuming", "7 ended"])
    }

    @Test func groupConsumesUntilTheLastLaneHasStopped() throws {
        try start()
        #expect(finish() == [])
        #expect(group.laneStopped(0).isEmpty)
        #expect(group.laneStopped(0).isEmpty)
        #expect(group.laneDrained(0, unfinished: 0).map(Self.text) == ["a lane drained, 0 unfinished"])
        #expect(group.laneStopped(1).isEmpty)
        #expect(group.laneStopped(2).map(Self.text) == ["7 stopped consuming"])
        #expect(group.undrained.count == 2)
        #expect(finish() == ["7 stopped consuming"])
    }

    @Test func aDrainNeedsNoStop() throws {
        try start()
        for lane in 0..<2 { #expect(group.laneDrained(lane, unfinished: 0).count == 1) }
        #expect(group.laneDrained(2, unfinished: 0).map(Self.text).last == "7 stopped consuming")
        #expect(group.laneStopped(2).isEmpty)
        for lane in 0..<2 { #expect(group.laneEnded(lane).isEmpty) }
        #expect(group.laneEnded(2).map(Self.text) == ["7 ended"])
    }

    // Only a defect ends a lane without a drain. The broker then redelivers the lane's deliveries.
    @Test func aLaneThatEndsWithoutADrainIsNotReadyAndDelaysNoStop() throws {
        try start()
        var ready = LaneState()
        (ready.isConsuming, ready.isPublishing) = (true, true)
        #expect(group.laneChanged(0, ready).isEmpty && group.laneChanged(1, ready).isEmpty)
        #expect(group.laneChanged(2, ready).map(Self.text) == ["7 ready by 2"])
        #expect(group.laneEnded(1).map(Self.text) == ["7 not ready by 1", "a lane drained, 1 unfinished"])
        #expect(group.laneDrained(1, unfinished: 0).isEmpty)
        #expect(group.laneEnded(0).map(Self.text) == ["a lane drained, 1 unfinished"])
        let last = group.laneEnded(2).map(Self.text)
        #expect(last == ["a lane drained, 1 unfinished", "7 stopped consuming", "7 ended"])
    }

    @Test func payloadSchemasOfAnotherConfigurationAreIgnored() throws {
        var files = group.configuration.payloadSchemas
        group.replace(PayloadSchemaFiles())
        #expect(group.payloadSchemas.schemas.map { $0 === files.files[0].schema } == [true])
        try files.files[0].readAgain()
        group.replace(files)
        #expect(group.payloadSchemas.schemas.map { $0 === files.files[0].schema } == [true])
    }
}
