import BrokerTopology
import Crypto
import Delivery
import EventLoop
import Glibc
import JSON
import PostgreSQL
import RegistrationStores
import Registrations
import TestKit
import Testing

@testable import Configuration

/// The section `registrations` of the configuration.
@Suite struct RegistrationsConfigurationTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory("registrations")
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        let keys = try folder.write("keys.json", String(decoding: try RegistrationKeys.generatedFile(), as: UTF8.self))
        try #require(chmod(keys, 0o640) == 0)
        try folder.write("password", "s3cret\n")
    }

    private func file(_ section: String) throws -> ConfigurationFile {
        ConfigurationFile(
            try folder.write("martlet.yaml", SampleConfiguration.shortest + "\nregistrations: \(section)\n"))
    }

    private func mistakes(_ section: String) throws -> [String] {
        let file = try file(section)
        let error = try #require(throws: ConfigurationError.self) { try file.worker() }
        return error.mistakes.map { String($0.description.trimmingPrefix("\(folder.path)/martlet.yaml:")) }
    }

    @Test func `Without the section there is no store and no queue`() throws {
        let configuration = try ConfigurationFile(folder.write("martlet.yaml", SampleConfiguration.shortest)).worker()
        #expect(configuration.registrations == nil && !configuration.topology.hasRegistrations)
    }

    @Test func `A SQLite store needs a key file only`() throws {
        let configuration = try file("{store: \"sqlite:/var/lib/r.db\", keys_file: keys.json}").worker()
        let registrations = try #require(configuration.registrations)
        #expect(registrations.store == .sqlite(path: "/var/lib/r.db"))
        #expect(registrations.keysFile == folder.file("keys.json"))
        #expect(registrations.password == nil && registrations.replyPrefix == nil)
        #expect(registrations.devicesPerUserMax == RegistrationRules.devicesPerUserMaxDefault)
        #expect(configuration.topology.hasRegistrations)
    }

    @Test func `Every key of a PostgreSQL store is read`() throws {
        let registrations = try #require(
            try file(
                """
                {store: "postgresql://martlet@db-1,db-2:5433/push", keys_file: keys.json, password_file: password,
                  devices_per_user_max: 7, reply_prefix: shop.}
                """
            ).worker().registrations)
        guard case .postgresql(let url) = registrations.store else {
            Issue.record("\(registrations.store)")
            return
        }
        #expect(
            url.endpoints.hosts == [
                .tcp(Endpoint(host: "db-1", port: 5432)), .tcp(Endpoint(host: "db-2", port: 5433)),
            ])
        #expect(url.endpoints.security == .verifyFull(rootCertificate: PostgresURL.systemRootCertificate))
        #expect(registrations.password == PostgresPassword("s3cret"))
        #expect(registrations.devicesPerUserMax == 7 && registrations.replyPrefix == "shop.")
        #expect(!"\(registrations)".contains("s3cret"))
    }

    @Test(arguments: [
        ("redis://a", "the store must be sqlite:/PATH, for one worker, or postgresql://USER@HOST/DATABASE"),
        ("sqlite:r.db", "the store must be sqlite: followed by the absolute path of a file"),
        ("postgresql://u@db/p?sslmode=require", "has a weak or unknown sslmode; use sslmode=verify-full"),
        ("postgresql://u@db/p?sslmode=disable", "disables TLS for db:5432, which is not on this machine"),
        ("postgresql://u:hunter2@db/p", "contains a password; write the password to a separate file"),
    ])
    func `A store that cannot be used is a mistake of its line`(store: String, reason: String) throws {
        let found = try mistakes("{store: \"\(store)\", keys_file: keys.json}")
        #expect(found.count == 1 && found[0].hasPrefix("10:24: ") && found[0].contains(reason), "\(found)")
        #expect(!found.joined().contains("hunter2"))
    }

    @Test(arguments: [
        "postgresql://u@localhost/p", "postgresql://u@/p?host=/run/postgresql",
        "postgresql://u@[::1]/p?sslmode=disable",
    ])
    func `Servers on this machine need no TLS`(store: String) throws {
        let registrations = try #require(
            try file("{store: \"\(store)\", keys_file: keys.json}").worker().registrations)
        guard case .postgresql(let url) = registrations.store else {
            Issue.record("\(registrations.store)")
            return
        }
        #expect(url.endpoints.security == .none)
    }

    @Test func `A missing key file is reported with the command that creates it`() throws {
        let found = try mistakes("{store: \"sqlite:/r.db\", keys_file: none.json}")
        #expect(found.count == 1, "\(found)")
        #expect(found[0].hasPrefix("10:51: cannot read keys from \(folder.path)/none.json: "))
        #expect(found[0].hasSuffix("run: martlet registrations keys \(folder.path)/none.json"), "\(found)")
    }

    @Test func `A key file that other users can read is refused`() throws {
        try #require(chmod(folder.file("keys.json"), 0o644) == 0)
        let found = try mistakes("{store: \"sqlite:/r.db\", keys_file: keys.json}")
        #expect(found.count == 1 && found[0].hasSuffix("run: chmod 640 \(folder.path)/keys.json"), "\(found)")
    }

    @Test func `The content of a faulty file is never quoted`() throws {
        try folder.write("keys.json", #"{"index_key": "c2VjcmV0"}"#)
        try folder.write("password", "s3cret\0")
        let found = try mistakes("{store: \"postgresql://u@db/p\", keys_file: keys.json, password_file: password}")
        #expect(found.count == 2, "\(found)")
        #expect(!found.joined().contains("c2VjcmV0") && !found.joined().contains("s3cret"))
        #expect(found.contains { $0.contains("password must contain a password without a NUL") })
    }

    @Test func `The user of the worker at the broker must be known`() throws {
        let user = String(repeating: "u", count: 256)
        let text = SampleConfiguration.shortest.replacing("amqp://", with: "amqp://\(user):p@")
        let file = ConfigurationFile(
            try folder.write(
                "martlet.yaml", text + "\nregistrations: {store: \"sqlite:/r.db\", keys_file: keys.json}\n"))
        let error = try #require(throws: ConfigurationError.self) { try file.worker() }
        let found = error.mistakes.map(\.description)
        #expect(found.count == 1 && found[0].contains("set amqp.username and amqp.password"), "\(found)")
        #expect(!found.joined().contains(user))
    }

    @Test func `A password is of no use to a SQLite store`() throws {
        let found = try mistakes("{store: \"sqlite:/r.db\", keys_file: keys.json, password_file: password}")
        #expect(found.count == 1 && found[0].contains("applies only to a PostgreSQL store"), "\(found)")
    }

    @Test func `Replies must not reach the worker's own queues`() throws {
        for prefix in ["pu", "push.", "push.replies."] {
            let found = try mistakes("{store: \"sqlite:/r.db\", keys_file: keys.json, reply_prefix: \(prefix)}")
            #expect(
                found.count == 1 && found[0].contains("reply_prefix must not apply to the worker's own queues"),
                "\(found)")
        }
    }

    // An operator may declare the topology on a machine without the key file.
    @Test func `The topology needs no key`() throws {
        let file = try file("{store: \"postgresql://u@db/p\", keys_file: none.json}")
        #expect(try file.broker().topology.hasRegistrations)
        #expect(try file.printedTopology().topology.hasRegistrations)
    }

    @Test(arguments: ["keys.json", "none.json"])
    func `Requests to users are valid, also on a machine without the key file`(_ keys: String) throws {
        let request = #"{"app":"com.example.shop","user":"ann","push_type":"alert","payload":{"aps":{"alert":"x"}}}"#
        let checked = try file("{store: \"postgresql://u@db/p\", keys_file: \(keys)}").requestRules().checker
        #expect(checked.violation(of: Array(request.utf8)) == nil)
        let file = ConfigurationFile(try folder.write("without.yaml", SampleConfiguration.shortest))
        let violation = try file.requestRules().checker.violation(of: Array(request.utf8))
        #expect(violation?.path == "/user")
    }

    @Test func `A worker detects changes of the key file and of the password`() throws {
        let path = try folder.write(
            "martlet.yaml",
            SampleConfiguration.shortest
                + "\nregistrations: {store: \"postgresql://u@db/p\", keys_file: keys.json, password_file: password}\n")
        let sources = ConfigurationSources()
        _ = try ConfigurationFile(path, noting: sources).worker()
        #expect(sources.versions[folder.file("keys.json")] != nil && sources.versions[folder.file("password")] != nil)
        let secrets = ConfigurationFile(path).secretPlaces()
        #expect(!secrets.isInText && secrets.files.isSuperset(of: ["keys.json", "password"]))
    }

    @Test func `The schema describes the defaults and limits`() throws {
        let schema = try JSONDocument(PrintedSchema.config.text).root
        let property = try #require(schema.at(pointer: "/properties/registrations/properties/devices_per_user_max"))
        #expect(property["default"]?.int == RegistrationRules.devicesPerUserMaxDefault)
        let maximum = try #require(property["maximum"]?.int)
        #expect(property["minimum"]?.int == 1 && maximum < DeviceLookup.devicesMax)
    }
}
