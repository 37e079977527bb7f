import Crypto
import Telemetry
import TestKit
import Testing

@testable import Configuration
@testable import Worker

/// The version that the watcher follows when a version is put in force or rejected.
@Suite final class ConfigurationWatcherTests {
    private let folder: TemporaryDirectory
    private let log: CapturedLog
    private let first: ConfigurationVersion
    private let watcher: ConfigurationWatcher

    init() throws {
        folder = try TemporaryDirectory("watcher")
        log = try CapturedLog()
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        let path = try folder.write("martlet.yaml", Self.text(lanes: 1))
        first = try ConfigurationVersion(readFrom: path)
        watcher = ConfigurationWatcher(first, from: path, log: log.log, metrics: MetricsRegistry())
    }

    private static func text(lanes: Int) -> String {
        """
        amqp: {url: amqp://127.0.0.1}
        apns: {keys: [{key_id: ABCDE12345, team_id: TEAM123456, key_file: key.p8}]}
        apps: {com.example.app: {}}
        lanes: \(lanes)
        """
    }

    /// Makes the watcher read the configuration again. Returns the version; nil if the watcher returns none.
    private func readAgain() -> ConfigurationVersion? {
        watcher.readAgain()
        if case .version(let prepared) = watcher.next() { return prepared.version }
        return nil
    }

    private func write(lanes: Int) throws { try folder.write("martlet.yaml", Self.text(lanes: lanes)) }

    @Test func aRejectedVersionIsReadAgainOnRequest() throws {
        try write(lanes: 2)
        let second = try #require(readAgain())
        #expect(readAgain() == nil)
        watcher.rejected(second, inForce: first)
        let again = try #require(readAgain())
        #expect(again !== second && again.configuration.lanes == 2)
    }

    /// The watcher follows the newer version, which may be put in force.
    @Test func aRejectionAfterANewerVersionHasNoEffect() throws {
        try write(lanes: 2)
        let second = try #require(readAgain())
        try write(lanes: 3)
        let third = try #require(readAgain())
        watcher.rejected(second, inForce: first)
        #expect(readAgain() == nil)
        watcher.rejected(third, inForce: first)
        #expect(readAgain()?.configuration.lanes == 3)
    }
}
