import AMQP
import BrokerTopology
import ControlProtocol
import EventLoop
import TestKit
import Testing

@testable import Configuration

/// The section `console` of the configuration.
@Suite struct ConsoleConfigurationTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("console") }

    private func read(_ section: String, hasFleetControl: Bool = true) throws -> ConsoleConfiguration {
        let text = SampleConfiguration.shortest + (hasFleetControl ? "\nfleet: {}" : "") + "\n\(section)\n"
        return try ConfigurationFile(try folder.write("martlet.yaml", text)).console()
    }

    // The key file of the sample does not exist: a console reads no keys.
    @Test func `The defaults only read, on loopback`() throws {
        for configuration in [try read(""), try read("console: {}")] {
            #expect(configuration.listen == .address(Endpoint(host: "127.0.0.1", port: 9790)))
            #expect(configuration.roleMax == .view && configuration.proxy == nil && configuration.tokensFile == nil)
            #expect(configuration.broker.url.endpoints.map(\.host) == ["rabbit"])
            #expect(configuration.topology.hasFleetControl)
        }
    }

    @Test func `All settings are read`() throws {
        let configuration = try read(
            """
            console:
              listen: run/http
              host_names: [push.example.com]
              role_max: operate
              tokens_file: tokens.json
              socket: /run/console
              amqp_url: "amqp://viewer:word@other/vhost"
              proxy: {user: www-data, groups: {ops: operate, all: view}}
            """)
        #expect(configuration.listen == .socket("\(folder.path)/run/http"))
        #expect(configuration.hostNames == ["push.example.com"] && configuration.roleMax == .operate)
        #expect(configuration.tokensFile == "\(folder.path)/tokens.json" && configuration.socketPath == "/run/console")
        #expect(configuration.broker.url.credentials.user == "viewer")
        #expect(configuration.broker.url.virtualHost == "vhost")
        #expect(configuration.proxy == .init(user: "www-data", groups: ["ops": .operate, "all": .view]))
    }

    @Test func `A journal turns the history on`() throws {
        #expect(try read("console: {history: {days: 3}}").history == nil)
        let standard = try #require(try read("journal: {}").history)
        #expect(standard.days == 7 && standard.bytesMax == 20_000_000_000 && standard.keysFile == nil)
        #expect(standard.folder.hasSuffix("/history"))
        let section = "journal: {}\nconsole: {history: {folder: data, days: 3, gigabytes_max: 5, keys_file: keys.json}}"
        let history = try #require(try read(section).history)
        #expect(history.folder == "\(folder.path)/data" && history.keysFile == "\(folder.path)/keys.json")
        #expect(history.days == 3 && history.bytesMax == 5_000_000_000)
    }

    // The user of the console may not know the secrets of the worker's user.
    @Test func `With a URL of its own the console needs no secret of the section amqp`() throws {
        let text = """
            amqp: {url: "amqp://rabbit", password: "${MARTLET_MISSING_VARIABLE}", prefix: shop}
            apns: {keys: []}
            apps: {}
            fleet: {}
            console: {amqp_url: "amqp://viewer:word@rabbit"}
            """.replacing(
                "keys: []", with: "keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]"
            ).replacing("apps: {}", with: "apps: {com.example.shop: {}}")
        let file = ConfigurationFile(try folder.write("martlet.yaml", text))
        #expect(try file.console().topology.names.prefix == "shop")
        #expect(throws: ConfigurationError.self) { try file.broker() }
    }

    @Test(arguments: ["0.0.0.0:9790", "192.0.2.1:9790", "push.example.com:9790", "[::]:9790"])
    func `Other addresses need the operator's consent`(address: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try read(#"console: {listen: "\#(address)"}"#) }
        #expect(error.mistakes.count == 1 && error.mistakes[0].message.contains("console.allow_plaintext: true"))
        let allowed = try read(#"console: {listen: "\#(address)", allow_plaintext: true}"#)
        #expect(allowed.listen == .address(try #require(Endpoint(address))))
    }

    @Test(arguments: ["127.0.0.1:1", "127.8.8.8:9790", "[::1]:9790"])
    func `Loopback addresses are allowed`(address: String) throws {
        #expect(try read(#"console: {listen: "\#(address)"}"#).listen == .address(try #require(Endpoint(address))))
    }

    @Test(arguments: [
        ("console: {listen: nowhere}", "an address and a port"), ("console: {role_max: root}", "role_max"),
        ("console: {proxy: {user: a, groups: {b: view}}}", "console.proxy requires a Unix socket"),
        ("console: {listen: /a/b, proxy: {user: a}}", "groups"),
        ("console: {listen: /a/b, proxy: {user: a, groups: {b: root}}}", "groups"),
        ("console: {tls: {}}", "unknown key 'tls'"),
    ])
    func `Mistakes are reported`(section: String, message: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try read(section) }
        #expect(error.mistakes.contains { $0.description.contains(message) }, "\(error.mistakes)")
    }

    @Test func `The console needs fleet control`() throws {
        let error = try #require(throws: ConfigurationError.self) { try read("console: {}", hasFleetControl: false) }
        #expect(error.mistakes.contains { $0.message.contains("the console needs the section fleet") })
    }
}
