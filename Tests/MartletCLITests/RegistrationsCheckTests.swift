import Crypto
import EventLoop
import Glibc
import RegistrationStores
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
            await writer.close()
        }
        let found = try await lines(.registrations, store: "sqlite:\(path)")
        #expect(found.map(\.state) == [.ok] && found[0].text.hasPrefix("the store answers a lookup"), "\(found)")
    }

    @Test func `A server that does not listen is a failure with a remedy`() async throws {
        let port = try FreePort.choose()
        let found = try await lines(.registrations, store: "postgresql://u@127.0.0.1:\(port)/p")
        #expect(found.map(\.state) == [.failure] && !found[0].remedy.isEmpty, "\(found)")
        #expect(found[0].text.hasPrefix("cannot use the registration store: "))
    }

    @Test func `Missing and excess rights are reported`() {
        var inspection = PostgresInspection(serverVersion: 150_018, missingRights: "", mayChangeSchema: false)
        #expect(
            DoctorCheck.lines(inspection) == [
                .ok("registrations", "PostgreSQL 15.18, with the rights of a worker")
            ])
        inspection.missingRights = "DELETE on martlet.event"
        inspection.mayChangeSchema = true
        inspection.serverVersion = 120_004
        let found = DoctorCheck.lines(inspection)
        #expect(found.map(\.state) == [.failure, .failure, .warning])
        #expect(found[0].text == "PostgreSQL 12.4 is too old")
        #expect(found[1].text == "the user of registrations.store lacks DELETE on martlet.event")
    }
}
