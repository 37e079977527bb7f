import APNS
import Crypto
import Delivery
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Configuration
@testable import Worker

/// The delivery of provider tokens to the lanes of a process.
@Suite struct LaneTokensTests {
    private let folder: TemporaryDirectory
    private static let ids = ["ABCDE12345", "FGHIJ67890"]

    init() throws {
        folder = try TemporaryDirectory("worker-tokens")
        for id in Self.ids { try folder.write("\(id).p8", ES256PrivateKey.generate().pkcs8PEM()) }
    }

    /// Returns a generation with one lane, and with a broker that does not exist.
    private func generation(_ number: Int) throws -> WorkerRollout.Generation {
        let id = Self.ids[number]
        let path = try folder.write(
            "\(id).yaml",
            """
            amqp: {url: amqp://127.0.0.1:1}
            apns: {keys: [{key_id: \(id), team_id: TEAM123456, key_file: \(id).p8}]}
            apps: {com.example.app: {}}
            lanes: 1
            """)
        let version = try ConfigurationVersion(readFrom: path)
        return WorkerRollout.Generation(number: number, version: try PreparedVersion(version))
    }

    private static func environment(_ loop: EventLoop) -> LaneEnvironment {
        LaneEnvironment(loop: loop, log: .silent, spans: nil, commands: CommandAdvice(configPath: "martlet.yaml"))
    }

    private static func before(_ now: Now, minutes: Int64) -> Now {
        let time = Duration.seconds(60 * minutes)
        return Now(
            monotonic: now.monotonic - time, sinceBoot: now.sinceBoot - time,
            unixNanoseconds: now.unixNanoseconds - 60_000_000_000 * minutes)
    }

    private static func tokenAge(_ groups: LaneGroups) async -> Int? {
        await withCheckedContinuation { continuation in
            groups.inForce.responsive[0]?.status { continuation.resume(returning: $0.pools[0].tokenAgeSeconds) }
        }
    }

    private final class Handler: RolloutHandler, @unchecked Sendable {
        var hasEnded = false
        override func handle(_ event: WorkerRollout.Event) { if case .ended = event { hasEnded = true } }
    }

    @Test func lanesReceiveRenewedTokens() async throws {
        let generation = try generation(0)
        let ages = try await onEpollLoop { loop in
            let environment = Self.environment(loop)
            let groups = try LaneGroups(generation, in: environment)
            func sign(minutesAgo minutes: Int64) throws {
                groups.tokens = ProviderTokens()
                try groups.tokens.replace(
                    groups.inForce.components.keys, Self.before(loop.now, minutes: minutes), random: { 0 })
            }
            try sign(minutesAgo: 20)
            let handler = Handler()
            guard case .started = groups.start(generation, pauses: [], handler: handler) else { return [Int?]() }
            HealthMonitor(groups, in: environment).superviseLanes()
            var ages = [await Self.tokenAge(groups)]
            // A token of this age is due for renewal.
            try sign(minutesAgo: 26)
            try await loop.wait { groups.tokens.newest.contains { $0.1.generation == 2 } }
            ages.append(await Self.tokenAge(groups))
            groups.drain(deadlineSeconds: 0, handler: handler)
            try await loop.wait { handler.hasEnded }
            return ages
        }
        let (first, second) = try (#require(ages.first ?? nil), #require(ages.last ?? nil))
        #expect(first >= 1200 && second < 60, "\(ages)")
    }

    /// Returns the lane groups of a process with tokens for the keys of two generations, and the group of each
    /// generation.
    private func groups(_ loop: EventLoop) throws -> (LaneGroups, [LaneGroup]) {
        let generations = try [generation(0), generation(1)]
        let groups = try LaneGroups(generations[0], in: Self.environment(loop))
        let others = generations.map { LaneGroup($0, log: .silent) }
        let keys = others.flatMap(\.components.keys)
        try groups.tokens.replace(keys, Self.before(loop.now, minutes: 10), random: { 0 })
        return (groups, others)
    }

    // Retired lanes may run for hours if they cannot publish, and may push again.
    @Test func keysOfRetiredLanesStayInUse() throws {
        let (groups, others) = try groups(EpollLoop())
        groups.retired = others
        #expect(groups.remove(0) === others[0])
        let names = others.flatMap(\.components.keys).map { Credential.key($0).name }
        #expect(Set(groups.tokens.newest.map(\.0)) == Set(names))
        #expect(groups.remove(1) === others[1])
        #expect(groups.tokens.newest.map(\.0) == [names[0]])
    }

    @Test func keysOfComingLanesStayInUse() throws {
        let (groups, others) = try groups(EpollLoop())
        (groups.retired, groups.coming) = ([others[0]], others[1])
        #expect(groups.remove(0) === others[0])
        let coming = Credential.key(others[1].components.keys[0]).name
        #expect(groups.tokens.newest.map(\.0).contains(coming))
    }
}

extension ProviderTokenUpdate {
    fileprivate var generation: Int? {
        if case .newest(let token) = self { token.generation } else { nil }
    }
}
