import AMQP
import BrokerManagement
import BrokerTopology
import Configuration

/// The input of the checks: the configuration, as far as it can be read.
struct DoctorContext: Sendable {
    let path: String
    /// The whole configuration; nil if the configuration has mistakes.
    let configuration: WorkerConfiguration?
    /// The broker's settings; nil if these settings have mistakes, or if the file violates the configuration schema.
    let broker: WorkerConfiguration.Broker?
    let topology: Topology?
    let mistakes: [ConfigurationError.Mistake]
    /// The configuration file and the files that it names, except payload schemas.
    let files: [ReadFile]

    init(_ path: String) {
        self.path = path
        let sources = ConfigurationSources()
        let file = ConfigurationFile(path, noting: sources)
        do {
            let configuration = try file.worker()
            self.configuration = configuration
            broker = configuration.broker
            topology = configuration.topology
            mistakes = []
        } catch {
            configuration = nil
            let part = try? file.broker()
            broker = part?.broker
            topology = part?.topology
            mistakes = error.mistakes
        }
        files = Self.files(of: file, others: sources.versions.keys.sorted(), apns: configuration?.apns)
    }

    /// Returns the files, with the kind of their content.
    ///
    /// - Parameter others: files that the configuration names, except payload schemas.
    private static func files(
        of file: ConfigurationFile, others: [String], apns: WorkerConfiguration.APNs?
    ) -> [ReadFile] {
        let secrets = file.secretPlaces()
        let keys = Set((apns?.keys.compactMap(\.file) ?? []) + (apns?.certificates.map(\.keyPath) ?? []))
        let secretFiles = Set(secrets.files.map { FileReader.path($0, relativeTo: file.path) })
        return [ReadFile(path: file.path, content: secrets.isInText ? .secret : .other)]
            + others.map { path in
                ReadFile(
                    path: path, content: keys.contains(path) ? .key : secretFiles.contains(path) ? .secret : .other)
            }
    }

    var advice: TopologyAdvice { TopologyAdvice(virtualHost: broker?.url.virtualHost ?? "/") }

    /// The broker and its topology; nil without ``broker``, or if TLS cannot be set up.
    var target: TopologyTarget? {
        guard let broker, let topology, let connector = try? BrokerConnector(broker) else { return nil }
        return TopologyTarget(connector: connector, inspector: TopologyInspector(topology, broker))
    }

    var management: ManagementAccess? { broker.flatMap { ManagementAccess($0) } }
}
