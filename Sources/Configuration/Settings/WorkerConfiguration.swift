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

/// A worker's configuration: the file's values with references resolved, files read and defaults filled in.
/// `schemas/config.schema.json` says what each means; the components have configuration types of their own, which
/// are made from this one.
package struct WorkerConfiguration: Sendable {
    package var broker: Broker
    package var apns: APNs
    package var apps: [App]
    package var payloadSchemas = PayloadSchemaFiles()
    package var limits = Limits()
    package var retry = RetrySchedule()
    /// Whether a push whose answer never came is sent again.
    var resendsUnknown = true
    package var results = ResultsRetention()
    /// nil: one for each processor.
    package var lanes: Int?
    package var logLevel = LogLevel.info
    package var admin = Admin()
    /// nil: none is exported.
    package var tracing: Tracing?
    /// nil: no commands are taken.
    package var channels: Channels?

    package struct Broker: Sendable {
        package var url: AMQPURL
        /// Whether the file says who logs in.
        var namesUser = false
        /// nil: what the URL says.
        var heartbeatSeconds: Int?
        /// nil: what the URL says.
        package var socket: ConnectOptions?
        package var names = TopologyNames()
        /// Those of `names`, where the file says more of them than their names.
        package var requestQueues: [Queue] = []
        /// For an `amqps` URL.
        package var tls = TLSClientConfiguration()
        /// nil: the host of the URL.
        var serverName: String?
        /// Whether the certificate that it shows says who logs in, where the broker offers that.
        package var prefersCertificate: Bool { url.usesTLS && tls.identity != nil && !namesUser }
        /// The management API, with credentials; nil: what only it shows is not seen.
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
            /// nil: `Limits.inFlightMax`.
            package var prefetch: Int?
            /// nil: the topology's own choice.
            package var routingKey: String?
            var shards = 1
        }
    }

    package struct APNs: Sendable {
        package var keys: [Key] = []
        package var certificates: [Certificate] = []
        package var production = Server(APNSEnvironment.production)
        package var sandbox = Server(APNSEnvironment.sandbox)
        /// nil: none.
        package var proxy: Proxy?
        /// nil: the pool's own choice.
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
                "apns.endpoints overrides \(overridden[0].rawValue) alone: pushes to \(other.rawValue) go to "
                    + "\(server(of: other).endpoint); set \(other.rawValue), too, or limit environments of keys"
            ]
        }

        /// What connections go through.
        package struct Proxy: Sendable, Equatable {
            package var url: HTTPURL
            /// nil: nothing is reached without.
            var exemptions: ProxyExemptions?
        }

        package struct Key: Sendable {
            package var keyID: String
            package var teamID: String
            package var privateKey: ES256PrivateKey
            /// nil: it stands in the configuration, or in the environment.
            package var file: String?
            /// Where Apple takes it.
            package var environments = APNSEnvironment.allCases
        }

        /// A provider's certificate, and the key that belongs to it.
        package struct Certificate: Sendable {
            /// What it is for, and the environment if there is but one.
            package var name: String
            /// As the configuration names it.
            package var file: String
            /// Where the private key is.
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
            /// At the same port; nil: the same host.
            var broadcastHost: String?
            /// Where channels are managed; nil: nobody says where beside a host that is not Apple's.
            var channelEndpoint: Endpoint?
            /// Who may have signed its certificate.
            var trust = TLSTrust.system

            init(_ environment: APNSEnvironment) {
                endpoint = Endpoint(host: environment.pushHost, port: APNSEnvironment.pushPort)
                channelEndpoint = Endpoint(host: environment.channelHost, port: environment.channelPort)
            }

            /// nil: that of pushes to devices.
            var broadcastEndpoint: Endpoint? {
                broadcastHost.flatMap { $0 == endpoint.host ? nil : Endpoint(host: $0, port: endpoint.port) }
            }
        }
    }

    package struct App: Sendable, Equatable {
        package var bundleID: String
        /// With what it is pushed to, wherever that is possible.
        package var credentials: [APNSEnvironment: AppCredentials.Chosen]
        /// Where messages go that do not say it themselves.
        package var environment: APNSEnvironment
        /// Those of its own; `Limits.eachApp` has the others.
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

        /// An app ID may end so, but this one is more likely a topic.
        package var warning: String? {
            let suffixes = PushType.allCases.map { "\($0.topicSuffix)" }.filter { !$0.isEmpty }
            guard !bundleID.hasPrefix("pass."), let suffix = suffixes.first(where: bundleID.hasSuffix) else {
                return nil
            }
            return "apps: \(bundleID) ends like a topic: write the bundle ID (\(bundleID.dropLast(suffix.count))?); "
                + "a push type adds \(suffix) to it"
        }
    }

    package struct Limits: Sendable, Equatable {
        package var inFlightMax = 1000
        package var messageBytesMax = 1 << 20
        var bodiesInFlightBytesMax = 64 << 20
        package var drainDeadlineSeconds = 25
        var eachApp = PushLimits()
    }

    /// Where a worker can be asked how it stands.
    package struct Admin: Sendable, Equatable {
        package static let defaultEndpoint = Endpoint(host: "127.0.0.1", port: 9780)

        package var isEnabled = true
        /// nil: ``defaultEndpoint``, or any free port where that is taken.
        package var listen: Endpoint?
        /// nil: in the user's own folder for such things.
        package var socketPath: String?
    }

    /// Where spans go.
    package struct Tracing: Sendable, Equatable {
        /// Of a collector that takes OTLP/JSON.
        package var endpoint: HTTPURL
        package var serviceName = "martlet"
    }

    /// Commands for broadcast channels.
    package struct Channels: Sendable, Equatable {
        /// Of the queues that replies may go to; nil: only straight back.
        package var replyPrefix: String?
    }

    /// What lanes consume from, the most important first, each before its shards.
    package var requestQueues: [RequestQueue] {
        broker.names.requestQueues.flatMap { name in
            let prefetch = broker.requestQueues.first { $0.name == name }?.prefetch
            return RequestQueue(name: name, prefetch: prefetch ?? limits.inFlightMax)
                .shared(among: broker.names.shards(of: name))
        }
    }

    /// Channels on the connection on which a lane consumes: one for each request queue, for the quarantine and for the queue
    /// of expired messages.
    package var consumerChannels: Int { requestQueues.count + LaneConfiguration.consumersBesidesRequests }

    /// Settings that keep no worker from starting and are probably mistakes.
    package var warnings: [String] { apns.warnings + apps.compactMap(\.warning) }

    package func limits(of app: App) -> PushLimits {
        PushLimits(
            inFlightMax: app.limits.inFlightMax ?? limits.eachApp.inFlightMax,
            perSecondMax: app.limits.perSecondMax ?? limits.eachApp.perSecondMax)
    }

    package static func topology(
        _ broker: Broker, _ retry: RetrySchedule, _ results: ResultsRetention, _ channels: Channels?
    ) -> Topology {
        var routingKeys: [String: String] = [:]
        for queue in broker.requestQueues { routingKeys[queue.name] = queue.routingKey }
        return Topology(
            names: broker.names, waits: retry.waits, results: results, hasChannelCommands: channels != nil,
            routingKeys: routingKeys)
    }
}
