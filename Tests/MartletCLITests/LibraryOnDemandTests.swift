import Crypto
import TestKit
import Testing

/// The program without libcurl. Only requests to HTTP servers, and configurations that name an HTTP server, need the
/// library.
@Suite struct LibraryOnDemandTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write("libcurl.so.4", "")
    }

    /// Runs a command with a libcurl file that cannot be loaded.
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
