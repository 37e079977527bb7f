import APNS
import APNSProtocol
import Crypto
import Delivery
import EventLoop
import TestKit
import Testing

@testable import Configuration
@testable import Worker

/// The clients of channel management for the apps of a configuration.
@Suite struct ChannelClientsTests {
    private static let app = "com.example.app"

    private let loop = VirtualLoop(seed: 1)
    private let configuration: WorkerConfiguration

    init() throws {
        let directory = try TemporaryDirectory()
        try directory.write("AuthKey.p8", ES256PrivateKey.generate().pkcs8PEM())
        let path = try directory.write(
            "martlet.yaml",
            """
            amqp: {url: "amqp://guest:guest@localhost/"}
            apns:
              proxy: none
              keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]
              endpoints: {production: {host: apns.test, port: 443, channel_port: 2196}}
            apps: {\(Self.app): {}}
            """)
        configuration = try ConfigurationFile(path).worker()
    }

    private func pass(_ time: Duration) {
        // An idle loop does not advance its time, so schedule an event.
        loop.enter { _ = loop.schedule(after: time) {} }
        _ = loop.run(limit: time, until: { false })
    }

    /// A token is used for at most an hour, and renewed even if no push uses it.
    @Test func firstCommandAfterHoursHasAValidToken() throws {
        let key = try #require(WorkerComponents(configuration).keys.first)
        var tokens = ProviderTokens()
        try tokens.replace([key], loop.now) { 0 }
        let clients = loop.enter { ChannelClients(configuration, loop: loop, tokens: tokens.supplies { _, _ in }) }
        func first() -> Int? { clients.tokens[Credential.key(key).name]?.first.generation }
        #expect(first() == 1)
        for generation in 2...4 {
            pass(.seconds(1800))
            let news = tokens.renew(loop.now) { 0 }
            loop.enter { for (name, news) in news { clients.apply(news, of: name) } }
            #expect(first() == generation)
        }
        let refused = ProviderTokenUpdate.nothingNewer(than: 4)
        loop.enter { clients.apply(refused, of: Credential.key(key).name) }
        #expect(first() == 4)
    }

    @Test func oneClientServesAllCommandsOfACredential() throws {
        let clients = loop.enter { ChannelClients(configuration, loop: loop, tokens: [:]) }
        try loop.enter {
            let first = try clients.find(Self.app, nil).get()
            #expect(try clients.find(Self.app, .production).get().client === first.client)
            #expect(throws: RequestViolation.self) { try clients.find("com.example.ap", nil).get() }
            clients.close()
        }
        _ = loop.run(limit: .seconds(60), until: { false })
    }
}
