import BrokerTopology
import Crypto
import Delivery
import TestKit
import Testing

@testable import Configuration

/// The section `journal` of the configuration.
@Suite struct JournalConfigurationTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory("journal")
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
    }

    private func file(_ sections: String) throws -> ConfigurationFile {
        ConfigurationFile(try folder.write("martlet.yaml", SampleConfiguration.shortest + "\n\(sections)\n"))
    }

    @Test func `Without the section a worker writes no journal`() throws {
        let file = try file("fleet: {}")
        let configuration = try file.worker()
        #expect(configuration.journal == nil && !configuration.topology.hasJournal)
        #expect(try !file.broker().topology.hasJournal && !file.printedTopology().topology.hasJournal)
        #expect(try WorkerComponents(configuration).lane.journal == nil)
    }

    @Test(arguments: [
        ("{}", true, 1), ("{samples: false, accepted: 0.25}", false, 0.25), ("{accepted: 0}", true, 0),
    ])
    func `The section enables the journal`(section: String, samples: Bool, accepted: Double) throws {
        let file = try file("fleet: {}\njournal: \(section)")
        let configuration = try file.worker()
        var expected = JournalSettings()
        (expected.samplesDeadLetters, expected.acceptedShare) = (samples, accepted)
        #expect(configuration.journal == expected && configuration.topology.hasJournal)
        #expect(try WorkerComponents(configuration).lane.journal == expected)
        // Commands that declare or print the topology do not read the whole configuration.
        #expect(try file.broker().topology == configuration.topology)
        #expect(try file.printedTopology().topology == configuration.topology)
    }

    @Test(arguments: [
        ("fleet: {}\njournal: true", "journal must be an object"),
        ("fleet: {}\njournal: {samples: 1}", "journal.samples must be"),
        ("fleet: {}\njournal: {accepted: 1.5}", "journal.accepted must be"),
        ("fleet: {}\njournal: {sample: true}", "did you mean 'samples'?"),
        ("journal: {}", "journal requires the section fleet"),
    ])
    func `Mistakes are reported`(sections: String, message: String) throws {
        let file = try file(sections)
        let error = try #require(throws: ConfigurationError.self) { try file.worker() }
        #expect(error.mistakes.count == 1 && error.mistakes[0].description.contains(message), "\(error.mistakes)")
    }

    @Test func `Without fleet control no stream is declared`() throws {
        #expect(try !file("journal: {}").broker().topology.hasJournal)
    }
}
