import Crypto
import Glibc
import Registrations
import TestKit
import Testing

/// The program without the libraries that it loads on demand. Requests to HTTP servers, and configurations that name an
/// HTTP server, need libcurl. Configurations with a store need the library of the store.
@Suite struct LibraryOnDemandTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        for library in ["libcurl.so.4", "libpq.so.5", "libsqlite3.so.0"] { try folder.write(library, "") }
    }

    /// Runs a command with files of libraries that cannot be loaded.
    private func martlet(_ arguments: String...) async throws -> (exit: ChildExit, output: [String], errors: [String]) {
        try await ChildProcess.run(
            [Products.executable("martlet")] + arguments, environment: ["LD_LIBRARY_PATH": folder.path])
    }

    @Test func aConfigurationThatNamesAnHTTPServerNeedsIt() async throws {
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        let without = try folder.write("without.yaml", SampleConfiguration.shortest)
        let result = try await martlet("config", "check", without)
        #expect(result.exit.status == .exited(0), "\(result.errors)")

        let url = "url: amqp://rabbit"
        let more = url + "\n  management_url: http://rabbit:15672"
        let with = try folder.write("with.yaml", SampleConfiguration.shortest.replacing(url, with: more))
        let mistaken = try await martlet("config", "check", with)
        #expect(mistaken.exit.status == .exited(1))
        #expect(mistaken.errors.first?.contains(":3:19: cannot load libcurl: ") == true, "\(mistaken.errors)")
    }

    @Test(arguments: [
        ("sqlite:/r.db", "cannot load libsqlite3: ", "libsqlite3-0"),
        ("postgresql://u@localhost/p", "cannot load libpq: ", "libpq5"),
    ])
    func aConfigurationWithAStoreNeedsItsLibrary(store: String, problem: String, package: String) async throws {
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
        let keys = try folder.write("keys.json", String(decoding: RegistrationKeys.generatedFile(), as: UTF8.self))
        try #require(chmod(keys, 0o600) == 0)
        let path = try folder.write(
            "martlet.yaml",
            SampleConfiguration.shortest + "\nregistrations: {store: \"\(store)\", keys_file: keys.json}\n")
        let result = try await martlet("config", "check", path)
        #expect(result.exit.status == .exited(1) && result.errors.count == 1, "\(result.errors)")
        let error = result.errors.joined()
        #expect(error.contains(":10:24: \(problem)") && error.contains(package), "\(error)")
    }

    @Test func commandsThatNeedItReportItsAbsence() async throws {
        let result = try await martlet("status", "--url", "http://127.0.0.1:1")
        #expect(result.exit.status == .exited(3))
        #expect(
            (result.output + result.errors).contains {
                $0.contains("cannot load libcurl: ") && $0.contains("libcurl.so.4")
            }, "\(result)")
    }

    @Test func theDoctorPrintsTheRemedy() async throws {
        let result = try await martlet("doctor", "--config", "/nowhere.yaml")
        #expect(result.output.first?.hasPrefix("ok       libraries        martlet ") == true, "\(result.output)")
        let warning = result.output.dropFirst()
        #expect(warning.first?.hasPrefix("warning  libraries        cannot load libcurl: ") == true)
        #expect(warning.dropFirst().first?.contains("libcurl4") == true, "\(result.output)")
    }
}
