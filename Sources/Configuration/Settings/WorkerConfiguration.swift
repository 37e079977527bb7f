package import AMQP
package import APNSProtocol
package import BrokerTopology
package import Crypto
package import Delivery
package import EventLoop
package import HTTPClient
import HTTPProxy
package import TLS
package import Telemetry

/// A worker's configuration. It contains the values of the file with references resolved, files read and defaults
/// applied. `schemas/config.schema.json` describes each value. The components derive their own configuration types from
/// this type.
package struct WorkerConfiguration: Sendable {
    package var broker: Broker
    package var apns: APNs
    package var apps: [App]
    package var payloadSchemas = PayloadSchemaFiles()
    package var limits = Limits()
    package var retry = RetrySchedule()
    /// Whether to resend a push whose outcome is unknown.
    var resendsUnknown = true
    package var results = ResultsRetention()
    /// The number of lanes; nil for one lane for each processor.
    package var lanes: Int?
    /// The number of lanes that a worker starts.
    package var laneCount: Int { lanes ?? Processors.count }
    package var logLevel = LogLevel.info
    package var admin = Admin()
    /// The settings for the export of spans; nil if the worker exports no spans.
    package var tracing: Tracing?
    /// The settings of channel commands; nil if the worker consumes no channel commands.
    package var channels: Channels?
    /// The settings of device registrations; nil if the worker has no store and refuses requests to users.
    package var registrations: Registrations?
    /// The settings of fleet control; nil if only local commands control the worker.
    package var fleet: Fleet?
    /// The settings of the journal; nil if the worker publishes none. A journal requires fleet control.
    package var journal: JournalSettings?

    package struct Broker: Sendable {
        package var url: AMQPURL
        /// Whether the configuration file names the AMQP user.
        var namesUser = false
        /// The heartbeat interval; nil for the interval of the URL or the default.
        var heartbeatSeconds: Int?
        /// The socket options; nil for the options of the URL.
        package var socket: ConnectOptions?
        package var names = TopologyNames()
        /// The queues of `names` for which the file has settings.
        package var requestQueues: [Queue] = []
        /// The TLS settings, which apply only to an `amqps` URL.
        package var tls = TLSClientConfiguration()
        /// The server name in TLS; nil for the host that the worker connects to.
        var serverName: String?
        /// Whether the client certificate identifies the user, if the broker offers EXTERNAL.
        package var prefersCertificate: Bool { url.usesTLS && tls.identity != nil && !namesUser }
        /// The settings of a connection, with the default connection name.
        var connection: ConnectionConfiguration {
            var connection = ConnectionConfiguration(url)
            if let heartbeatSeconds { connection.heartbeatSeconds = heartbeatSeconds }
            connection.prefersCertificate = prefersCertificate
            return connection
        }
        /// The management API, with credentials; nil to skip the checks that need it.
        package var management: HTTPURL?

        package init(
            url: AMQPURL, namesUser: Bool = false, heartbeatSeconds: Int? = nil, socket: ConnectOptions? = nil,
            names: TopologyNames = TopologyNames(), requestQueues: [Queue] = [],
            tls: TLSClientConfiguration = TLSClientConfiguration(), serverName: String? = nil,
            management: HTTPURL? = nil
        ) {
            self.url = url
            self.namesUser = namesUser
            self.heartbeatSeconds = heartbeatSeconds
            self.socket = socket
            self.names = names
            self.requestQueues = requestQueues
            self.tls = tls
            self.serverName = serverName
            self.management = management
        }

        package struct Queue: Sendable, Equatable {
            package var name: String
            /// The prefetch; nil for `Limits.inFlightMax`.
            package var prefetch: Int?
            /// The routing key; nil for the default of the topology.
            package var routingKey: String?
            var shards = 1
        }
    }

    package struct APNs: Sendable {
        package var keys: [Key] = []
        package var certificates: [Certificate] = []
        package var production = Server(APNSEnvironment.production)
        package var sandbox = Server(APNSEnvironment.sandbox)
        /// The proxy; nil for direct connections.
        package var proxy: Proxy?
        /// The maximum number of connections of a pool; nil for the default of `PoolConfiguration`.
        package var connectionsMax: Int?
        package var requestTimeoutSeconds: Int64?
        package var socket = ConnectOptions()

        package func server(of environment: APNSEnvironment) -> Server {
            switch environment {
            case .production: production
            case .sandbox: sandbox
            }
        }

        package var warnings: [String] {
            let overridden = APNSEnvironment.allCases.filter { server(of: $0).endpoint != Server($0).endpoint }
            guard overridden.count == 1,
                let other = APNSEnvironment.allCases.first(where: { $0 != overridden[0] }),
                !certificates.isEmpty || keys.contains(where: { $0.environments.contains(other) })
            else { return [] }
            return [
                "apns.endpoints overrides \(overridden[0].rawValue) only: pushes to \(other.rawValue) go to "
                    + "\(server(of: other).endpoint); also set apns.endpoints.\(other.rawValue), or under apns.keys, set "
                    + "environments: [\(overridden[0].rawValue)]"
            ]
        }

        /// An HTTP proxy for connections to APNs.
        package struct Proxy: Sendable, Equatable {
            package var url: HTTPURL
            /// Hosts with direct connections; nil if all connections use the proxy.
            var exemptions: ProxyExemptions?
        }

        package struct Key: Sendable {
            package var keyID: String
            package var teamID: String
            package var privateKey: ES256PrivateKey
            /// The path of `key_file`; nil if `private_key` contains the key or refers to it.
            package var file: String?
            /// The environments in which the key may be used.
            package var environments = APNSEnvironment.allCases
        }

        /// A provider certificate with its private key.
        package struct Certificate: Sendable {
            /// The first topic, followed by the environment if the certificate has only one environment.
            package var name: String
            /// The path of the certificate, as written in the configuration.
            package var file: String
            /// The path of the file that contains the private key.
            package var keyPath: String
            var identity: TLSIdentity
            package var contents: PushCertificate

            package init(name: String, file: String, keyPath: String, identity: TLSIdentity, contents: PushCertificate)
            {
                self.name = name
                self.file = file
                self.keyPath = keyPath
                self.identity = identity
                self.contents = contents
            }

        }

        package struct Server: Sendable {
            package var endpoint: Endpoint
            /// The host of broadcasts, at the same port; nil for the host of `endpoint`.
            var broadcastHost: String?
            /// The endpoint of channel management; nil if the host is not Apple's and no port is configured.
            var channelEndpoint: Endpoint?
            /// The accepted certificate authorities.
            var trust = TLSTrust.system

            init(_ environment: APNSEnvironment) {
                endpoint = Endpoint(host: environment.pushHost, port: APNSEnvironment.pushPort)
                channelEndpoint = Endpoint(host: environment.channelHost, port: environment.channelPort)
            }

            /// The endpoint of broadcasts; nil for the endpoint of device pushes.
            var broadcastEndpoint: Endpoint? {
                broadcastHost.flatMap { $0 == endpoint.host ? nil : Endpoint(host: $0, port: endpoint.port) }
            }
        }
    }

    package struct App: Sendable, Equatable {
        package var bundleID: String
        /// The credentials in each environment.
        package var credentials: [APNSEnvironment: AppCredentials.Chosen]
        /// The environment of requests that do not name their environment.
        package var environment: APNSEnvironment
        /// The app's own limits. `Limits.eachApp` has the defaults.
        package var limits = PushLimits()

        package init(
            bundleID: String, credentials: [APNSEnvironment: AppCredentials.Chosen], environment: APNSEnvironment,
            limits: PushLimits = PushLimits()
        ) {
            self.bundleID = bundleID
            self.credentials = credentials
            self.environment = environment
            self.limits = limits
        }

        /// A warning about a bundle ID that is probably a topic, because the bundle ID ends like a topic. nil for other
        /// bundle IDs and for pass type IDs.
        package var warning: String? {
            let suffixes = PushType.allCases.map { "\($0.topicSuffix)" }.filter { !$0.isEmpty }
            guard !bundleID.hasPrefix("pass."), let suffix = suffixes.first(where: bundleID.hasSuffix) else {
                return nil
            }
            return "apps: \(bundleID) ends like a topic; did you mean \(bundleID.dropLast(suffix.count))? A push type "
                + "adds \(suffix) to the bundle ID"
        }
    }

    package struct Limits: Sendable, Equatable {
        package var inFlightMax = 1000
        package var messageBytesMax = 1 << 20
        var bodiesInFlightBytesMax = 64 << 20
        package var drainDeadlineSeconds = 25
        var eachApp = PushLimits()
    }

    /// The settings of the admin endpoint and the control socket.
    package struct Admin: Sendable, Equatable {
        package static let defaultEndpoint = Endpoint(host: "127.0.0.1", port: 9780)

        package var isEnabled = true
        /// The TCP address; nil for ``defaultEndpoint``, or for any free port if the default port is unavailable.
        package var listen: Endpoint?
        /// The path of the control socket; nil for the default path.
        package var socketPath: String?
    }

    /// The settings for the export of spans.
    package struct Tracing: Sendable, Equatable {
        /// An endpoint that accepts OTLP/JSON.
        package var endpoint: HTTPURL
        package var serviceName = "martlet"
    }

    /// The settings of commands for broadcast channels.
    package struct Channels: Sendable, Equatable {
        /// Prefix of the names of queues that may receive replies; nil to permit only direct replies.
        package var replyPrefix: String?
    }

    /// The request queues and shards that lanes consume from, in the order of priority. Each queue precedes its shards.
    package var requestQueues: [RequestQueue] {
        broker.names.requestQueues.flatMap { name in
            let queue = broker.requestQueues.first { $0.name == name }
            return RequestQueue(
                name: name, prefetch: queue?.prefetch ?? limits.inFlightMax, routingKey: queue?.routingKey
            )
            .shared(among: broker.names.shards(of: name))
        }
    }

    /// Number of channels on a lane's consuming connection. Each request queue or shard has one channel, as have the
    /// quarantine and the queue of expired requests.
    package var consumerChannels: Int { requestQueues.count + LaneConfiguration.consumersBesidesRequests }

    /// Warnings about settings that do not prevent a start but are probably mistakes.
    package var warnings: [String] { apns.warnings + apps.compactMap(\.warning) }

    package func limits(of app: App) -> PushLimits {
        PushLimits(
            inFlightMax: app.limits.inFlightMax ?? limits.eachApp.inFlightMax,
            perSecondMax: app.limits.perSecondMax ?? limits.eachApp.perSecondMax)
    }

    package var topology: Topology {
        Self.topology(
            broker, retry, results, channels, hasRegistrations: registrations != nil,
            hasFleetControl: fleet != nil, hasJournal: journal != nil)
    }

    package static func topology(
        _ broker: Broker, _ retry: RetrySchedule, _ results: ResultsRetention, _ channels: Channels?,
        hasRegistrations: Bool, hasFleetControl: Bool, hasJournal: Bool
    ) -> Topology {
        var routingKeys: [String: String] = [:]
        for queue in broker.requestQueues { routingKeys[queue.name] = queue.routingKey }
        return Topology(
            names: broker.names, waits: retry.waits, results: results, hasChannelCommands: channels != nil,
            hasRegistrations: hasRegistrations, hasFleetControl: hasFleetControl,
            hasJournal: hasFleetControl && hasJournal, routingKeys: routingKeys)
    }
}
