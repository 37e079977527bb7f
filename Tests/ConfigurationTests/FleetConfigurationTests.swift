import BrokerTopology
import Crypto
import TestKit
import Testing

@testable import Configuration

/// The section `fleet` of the configuration.
@Suite struct FleetConfigurationTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory("fleet")
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
    }

    private func file(_ section: String) throws -> ConfigurationFile {
        ConfigurationFile(try folder.write("martlet.yaml", SampleConfiguration.shortest + "\n\(section)\n"))
    }

    @Test func `Without the section only local commands control a worker`() throws {
        let configuration = try file("").worker()
        #expect(configuration.fleet == nil && !configuration.topology.hasFleetControl)
        #expect(try !file("").broker().topology.hasFleetControl)
        #expect(try !file("").printedTopology().topology.hasFleetControl)
    }

    @Test(arguments: [
        ("{}", 10), ("{report_interval: 1s}", 1), ("{report_interval: 25s}", 25),
    ])
    func `The section enables fleet control`(section: String, seconds: Int) throws {
        let file = try file("fleet: \(section)")
        let configuration = try file.worker()
        #expect(configuration.fleet == WorkerConfiguration.Fleet(reportIntervalSeconds: seconds))
        #expect(configuration.topology.hasFleetControl)
        // Commands that declare or print the topology do not read the whole configuration.
        #expect(try file.broker().topology == configuration.topology)
        #expect(try file.printedTopology().topology == configuration.topology)
    }

    @Test(arguments: [
        ("true", "fleet must be an object"), ("{report_interval: 10}", "fleet.report_interval must be a string"),
        ("{report_interval: 26s}", "the duration must be at most 25s"),
        ("{report_interval: 2m}", "the duration must be at most 25s"),
        ("{report_interval: 0s}", "fleet.report_interval"),
        ("{report_intervall: 10s}", "did you mean 'report_interval'?"),
    ])
    func `Mistakes are reported`(section: String, message: String) throws {
        let file = try file("fleet: \(section)")
        let error = try #require(throws: ConfigurationError.self) { try file.worker() }
        #expect(error.mistakes.count == 1 && error.mistakes[0].description.contains(message), "\(error.mistakes)")
    }
}
