import APNSProtocol
import Configuration
import Crypto
import EventLoop
import Glibc
import RegistrationStores
import RegistrationTools
import Registrations
import TestKit
import Testing

@testable import MartletCLI

/// The lines of `martlet doctor` about the store of device registrations.
@Suite(.timeLimit(.minutes(5))) struct RegistrationsCheckTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory("doctor-store")
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        let keys = try folder.write("keys.json", String(decoding: RegistrationKeys.generatedFile(), as: UTF8.self))
        try #require(chmod(keys, 0o640) == 0)
    }

    private func lines(_ check: DoctorCheck, store: String? = nil) async throws -> [DoctorLine] {
        let section = store.map { "\nregistrations: {store: \"\($0)\", keys_file: keys.json}\n" } ?? ""
        let path = try folder.write("martlet.yaml", SampleConfiguration.shortest + section)
        return try await onEpollLoop { loop in await check.lines(DoctorContext(path), on: loop) }
    }

    @Test func `Without a store there is nothing to check`() async throws {
        #expect(try await lines(.registrations) == [])
    }

    @Test func `The key file is checked with the other keys`() async throws {
        let found = try await lines(.keys, store: "sqlite:\(folder.file("r.db"))")
        #expect(found.last?.text == "keys of registrations, \(folder.file("keys.json")) (mode 640)")
    }

    @Test func `A file that a worker will create is not a failure`() async throws {
        let found = try await lines(.registrations, store: "sqlite:\(folder.file("r.db"))")
        #expect(found.map(\.state) == [.unseen] && found[0].remedy == "start a worker, which creates the file")
        let missing = try await lines(.registrations, store: "sqlite:\(folder.file("none/r.db"))")
        #expect(missing.map(\.state) == [.failure] && missing[0].remedy.contains("/none"), "\(missing)")
    }

    @Test func `A store that a worker has created answers a lookup`() async throws {
        let path = folder.file("r.db")
        let keys = try RegistrationKeys(path: folder.file("keys.json"))
        try await onEpollLoop { loop in
            let writer = try RegistrationStore(.sqlite(path: path), keys: keys).writer(on: loop)
            let fault = await withUnsafeContinuation { continuation in
                var isFirst = true
                writer.start { fault in
                    if isFirst { continuation.resume(returning: fault) }
                    isFirst = false
                }
            }
            #expect(fault == nil)
            let session = StoreSession(writer, on: loop, devicesPerUserMax: 10)
            _ = try await session.apply([
                .register(
                    NewRegistration(
                        address: TokenAddress(
                            app: "com.example.app", environment: .production, kind: .device, scope: nil, token: "0a"),
                        user: "ann", registeredAt: 1))
            ])
            await writer.close()
        }
        var found = try await lines(.registrations, store: "sqlite:\(path)")
        #expect(found.map(\.state) == [.ok, .ok] && found[0].text.hasPrefix("the store answers a lookup"), "\(found)")
        #expect(found[1].text.hasPrefix("the key file decrypts 1 sampled registration; data keys: 1 ("), "\(found)")

        // A file with other keys.
        try folder.write("keys.json", String(decoding: RegistrationKeys.generatedFile(), as: UTF8.self))
        found = try await lines(.registrations, store: "sqlite:\(path)")
        #expect(found.map(\.state) == [.ok, .failure], "\(found)")
        #expect(found[1].text == "the key file cannot decrypt 1 of 1 sampled registrations")

        // A file that was deleted or moved.
        try #require(unlink(path) == 0)
        found = try await lines(.registrations, store: "sqlite:\(path)")
        #expect(found.map(\.state) == [.failure], "\(found)")
        #expect(found[0].text == "\(path) is missing, although its lock file exists")
    }

    @Test func `Registrations in an environment without a credential are reported`() throws {
        let path = try folder.write("martlet.yaml", SampleConfiguration.shortest)
        let configuration = try ConfigurationFile(path).worker()
        let app = try #require(configuration.apps.first)
        let other: APNSEnvironment = app.environment == .production ? .sandbox : .production
        func sample(_ environments: [APNSEnvironment]) -> RegistrationSample {
            RegistrationSample(
                environments.enumerated().map { number, environment in
                    Registration(
                        key: Registration.Key(token: UUIDValue(high: 0, low: UInt64(number))), app: app.bundleID,
                        environment: environment, kind: .device, registeredAt: 1, deviceKey: nil,
                        state: .live(
                            Registration.Details(
                                userKey: UUIDValue(high: 0, low: 1),
                                identity: RegistrationIdentity(token: "0a", user: "ann"))))
                })
        }
        let keys = try RegistrationKeys(path: folder.file("keys.json"))
        var only = app
        only.credentials[other] = nil
        #expect(sample([app.environment]).lines(keys, [only]).map(\.state) == [.ok])
        let found = sample([app.environment, other]).lines(keys, [only])
        #expect(found.map(\.state) == [.ok, .warning])
        #expect(found[1].text.contains("in \(other.rawValue), but no key or certificate"), "\(found)")
        #expect(sample([]).lines(keys, [app]).map(\.state) == [.unseen])
    }

    @Test func `A server that does not listen is a failure with a remedy`() async throws {
        let port = try FreePort.choose()
        let found = try await lines(.registrations, store: "postgresql://u@127.0.0.1:\(port)/p")
        #expect(found.map(\.state) == [.failure] && !found[0].remedy.isEmpty, "\(found)")
        #expect(found[0].text.hasPrefix("cannot use the registration store: "))
    }

    @Test func `Missing and excess rights are reported`() {
        var inspection = PostgresInspection(serverVersion: 150_018, connectionsLeft: 5)
        let fine = DoctorCheck.lines(inspection, lanes: 4)
        #expect(fine.map(\.state) == [.ok] && fine[0].text.hasPrefix("PostgreSQL 15.18, with the rights of a worker"))
        inspection.missingRights = "DELETE on martlet.event"
        inspection.excessRights = "CREATE on the schema"
        inspection.invalidIndexes = "event_at"
        inspection.serverVersion = 120_004
        let found = DoctorCheck.lines(inspection, lanes: 5)
        #expect(found.map(\.state) == [.failure, .failure, .warning, .failure, .warning])
        #expect(found[0].text == "PostgreSQL 12.4 is too old")
        #expect(found[1].text == "the user of registrations.store lacks DELETE on martlet.event")
    }
}
