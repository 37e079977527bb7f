import APNS
import Crypto
import Delivery
import EventLoop
import Telemetry
import TestKit
import Testing
import Threads

@testable import Operations

/// How provider tokens reach the lanes of a process.
@Suite struct WorkerTokensTests {
    private let folder: TemporaryDirectory
    private static let ids = ["ABCDE12345", "FGHIJ67890"]

    init() throws {
        folder = try TemporaryDirectory("worker-tokens")
        for id in Self.ids { try folder.write("\(id).p8", ES256PrivateKey.generate().pkcs8PEM()) }
    }

    /// One lane, and a broker that is not there.
    private func configuration(_ id: String) throws -> (path: String, version: ConfigurationVersion) {
        let path = try folder.write(
            "\(id).yaml",
            """
            amqp: {url: amqp://127.0.0.1:1}
            apns: {keys: [{key_id: \(id), team_id: TEAM123456, key_file: \(id).p8}]}
            apps: {com.example.app: {}}
            lanes: 1
            """)
        return (path, try ConfigurationVersion(readFrom: path))
    }

    private func worker() throws -> WorkerProcess {
        let (path, version) = try configuration(Self.ids[0])
        return try WorkerProcess(version, from: path, log: .silent)
    }

    private static func before(_ now: Now, minutes: Int64) -> Now {
        let time = Duration.seconds(60 * minutes)
        return Now(
            monotonic: now.monotonic - time, sinceBoot: now.sinceBoot - time,
            unixNanoseconds: now.unixNanoseconds - 60_000_000_000 * minutes)
    }

    private static func tokenAge(_ worker: WorkerProcess) async -> Int? {
        await withCheckedContinuation { continuation in
            worker.group.lanes[0].status { continuation.resume(returning: $0.pools[0].tokenAgeSeconds) }
        }
    }

    @Test func lanesAreHandedWhatIsRenewed() async throws {
        let worker = try worker()
        async let ended: Void = DetachedThread.run { worker.loop.run() }
        let ages = await Task(executorPreference: worker.loop) { () -> [Int?] in
            func sign(minutesAgo minutes: Int64) {
                worker.tokens = ProviderTokens()
                try? worker.tokens.replace(
                    worker.group.components.keys, Self.before(worker.loop.now, minutes: minutes), random: { 0 })
            }
            sign(minutesAgo: 20)
            try? worker.start(worker.group)
            worker.watch()
            var ages = [await Self.tokenAge(worker)]
            // Due from now on.
            sign(minutesAgo: 26)
            try? await worker.loop.wait { worker.tokens.newest.contains { $0.1.generation == 2 } }
            ages.append(await Self.tokenAge(worker))
            worker.group.lanes[0].drain(deadlineSeconds: 0) { _ in }
            try? await worker.loop.wait { worker.group.hasEnded }
            return ages
        }.value
        worker.loop.stop()
        await ended
        let (first, second) = try (#require(ages[0]), #require(ages[1]))
        #expect(first >= 1200 && second < 60, "\(ages)")
    }

    /// One for each key.
    private func groups() throws -> [LaneGroup] {
        try Self.ids.map { id in
            let version = try configuration(id).version
            return try LaneGroup(version, WorkerComponents(version.configuration), log: .silent)
        }
    }

    /// They leave for hours where nothing can be published; a push of theirs may still have to be sent again.
    @Test func keysOfLanesThatLeaveGoOn() throws {
        let worker = try worker()
        let groups = try groups()
        worker.leaving = groups
        let keys = groups.flatMap(\.components.keys)
        try worker.tokens.replace(keys, Self.before(worker.loop.now, minutes: 10), random: { 0 })
        worker.left(groups[0])
        let names = worker.tokens.newest.map(\.0)
        #expect(Set(names) == Set(keys.map { Credential.key($0).name }))
        worker.left(groups[1])
        #expect(worker.tokens.newest.map(\.0) == [Credential.key(keys[0]).name])
    }

    @Test func soDoThoseOfLanesThatCome() throws {
        let worker = try worker()
        let groups = try groups()
        (worker.leaving, worker.coming) = ([groups[0]], groups[1])
        let keys = groups.flatMap(\.components.keys)
        try worker.tokens.replace(keys, Self.before(worker.loop.now, minutes: 10), random: { 0 })
        worker.left(groups[0])
        #expect(worker.tokens.newest.map(\.0).contains(Credential.key(keys[1]).name))
    }
}

extension TokenNews {
    fileprivate var generation: Int? {
        if case .newest(let token) = self { token.generation } else { nil }
    }
}
