import Crypto
import Glibc
import Telemetry
import TestKit
import Testing

@testable import Configuration
@testable import Worker

/// Tests when a configuration is reloaded, and which files are read.
@Suite final class ConfigurationReloaderTests {
    private let folder: TemporaryDirectory
    private let log: CapturedLog
    private let metrics = MetricsRegistry()
    private var reloader: ConfigurationReloader

    init() throws {
        folder = try TemporaryDirectory("reloader")
        log = try CapturedLog()
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        let path = try folder.write("martlet.yaml", Self.text(lanes: 1))
        reloader = ConfigurationReloader(
            try ConfigurationVersion(readFrom: path), from: path, log: log.log,
            ReloadCounters(metrics, of: "configuration"))
    }

    private static func text(lanes: Int) -> String {
        """
        amqp: {url: amqp://127.0.0.1}
        apns: {keys: [{key_id: ABCDE12345, team_id: TEAM123456, key_file: key.p8}]}
        apps: {com.example.app: {}}
        lanes: \(lanes)
        """
    }

    private func checks(_ count: Int) -> [Bool] {
        (0..<count).map { _ in reloader.check(payloadSchemas: PayloadSchemaFiles()) != nil }
    }

    private var refused: Int { metrics.count(of: "martlet_reloads_total", with: ("result", "refused")) }

    @Test func aKeyIsReloadedOnceItsFileIsStable() throws {
        #expect(checks(3) == [false, false, false])
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        #expect(checks(4) == [false, true, false, false])
    }

    @Test func aFileChangeDoesNotReloadTheText() throws {
        try folder.write("martlet.yaml", Self.text(lanes: 7))
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        _ = checks(2)
        #expect(reloader.latest.configuration.lanes == 1)
        #expect(reloader.readAgain()?.configuration.lanes == 7)
    }

    @Test func unchangedTextIsNotReloaded() throws {
        try folder.write("martlet.yaml", Self.text(lanes: 1))
        #expect(reloader.readAgain() == nil)
        #expect(log.lines().contains { $0.contains("configuration.unchanged") })
        #expect(refused == 0)
    }

    @Test func aBrokenKeyIsLoggedOnceAndReloadedWhenItIsRepaired() throws {
        try folder.write("key.p8", "none")
        #expect(checks(5) == Array(repeating: false, count: 5))
        #expect(refused == 1)
        let lines = log.lines().filter { $0.contains("configuration.refused") }
        #expect(lines.count == 1 && lines[0].contains("martlet.yaml:2:"))
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        #expect(checks(2) == [false, true])
    }

    @Test func aRewrittenFileWithTheSameContentsIsNotReloaded() throws {
        let key = try folder.read("key.p8")
        for _ in 0..<2 {
            try folder.write("key.p8", "\(key)")
            #expect(checks(4) == Array(repeating: false, count: 4))
        }
        #expect(log.lines().count { $0.contains("configuration.unchanged") } == 2)
        #expect(refused == 0)
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        #expect(checks(2) == [false, true])
    }

    @Test func everyMistakeOfATextIsLogged() throws {
        try folder.write("martlet.yaml", Self.text(lanes: 0) + "\nlimts: {}\n")
        #expect(reloader.readAgain() == nil)
        #expect(log.lines().count { $0.contains("configuration.refused") } == 2)
        #expect(refused == 1)
        #expect(reloader.latest.configuration.lanes == 1)
    }

    @Test func aRejectedVersionIsReadAgainOnRequest() throws {
        let before = reloader.latest
        try folder.write("martlet.yaml", Self.text(lanes: 2))
        #expect(reloader.readAgain() != nil)
        reloader.fallBack(to: before)
        #expect(reloader.readAgain()?.configuration.lanes == 2)
    }

    @Test func aRejectedKeyIsNotReadRepeatedly() throws {
        let before = reloader.latest
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        #expect(checks(2) == [false, true])
        reloader.fallBack(to: before)
        #expect(checks(4) == Array(repeating: false, count: 4))
    }

    @Test func aChangeAfterARejectedVersionIsRead() throws {
        let before = reloader.latest
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        #expect(checks(2) == [false, true])
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        reloader.fallBack(to: before)
        #expect(checks(2) == [false, true])
    }
}
