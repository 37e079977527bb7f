import AMQP
import BrokerTopology
import Configuration

extension BrokerOptions {
    /// Returns a connector for the broker that the configuration file or `--url` names.
    ///
    /// - Throws: the mistakes in the file or the URL.
    func connector() throws(ConfigurationError) -> BrokerConnector {
        do {
            return try BrokerConnector(try configuration())
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError(mistakes: [.init(path: configPath ?? "--url", position: nil, message: "\(error)")])
        }
    }

    /// Returns the broker's settings from the configuration file or the command line.
    func configuration() throws(ConfigurationError) -> WorkerConfiguration.Broker {
        guard let configPath else { return try ofURL() }
        return try ConfigurationFile(configPath).broker().broker
    }

    func topology() throws(ConfigurationError) -> Topology {
        if let configPath { return try ConfigurationFile(configPath).broker().topology }
        return Topology(names: TopologyNames(prefix: prefix))
    }

    private func ofURL() throws(ConfigurationError) -> WorkerConfiguration.Broker {
        let resolver = ReferenceResolver(
            environment: { Environment.value($0) },
            readFile: { path throws(ReferenceResolver.ReadFailure) in
                try FileReader.bytes(of: path, bytesMax: ConfigurationFile.secretBytesMax)
            })
        let message: String
        do {
            var broker = WorkerConfiguration.Broker(url: try AMQPURL(try resolver.resolve(url)))
            broker.names = TopologyNames(prefix: prefix)
            return broker
        } catch let error as AMQPError {
            message = error.message
        } catch let error as ReferenceResolver.Mistake {
            message = error.message
        } catch {
            message = "cannot read the URL"
        }
        throw ConfigurationError(mistakes: [.init(path: "--url", position: nil, message: message)])
    }
}
