import AMQP
import APNSProtocol
import BrokerTopology
import Crypto
import Delivery
import EventLoop
import HTTPClient
import HTTPProxy
import TLS
import Telemetry

/// A worker's configuration: the file's values with references resolved, files read and defaults filled in.
/// `schemas/config.schema.json` says what each means; the components have configuration types of their own, which
/// are made from this one.
struct Configuration: Sendable {
    var broker: Broker
    var apns: APNs
    var apps: [App]
    var payloadSchemas = PayloadSchemaFiles()
    var limits = Limits()
    var retry = RetrySchedule()
    /// Whether a push whose answer never came is sent again.
    var resendsUnknown = true
    var results = ResultsRetention()
    /// nil: one for each processor.
    var lanes: Int?
    var logLevel = LogLevel.info
    var admin = Admin()
    /// nil: none is exported.
    var tracing: Tracing?
    /// nil: no commands are taken.
    var channels: Channels?

    struct Broker: Sendable {
        var url: AMQPURL
        /// Whether the file says who logs in.
        var namesUser = false
        /// nil: what the URL says.
        var heartbeatSeconds: Int?
        /// nil: what the URL says.
        var socket: ConnectOptions?
        var names = TopologyNames()
        /// Those of `names`, where the file says more of them than their names.
        var requestQueues: [Queue] = []
        /// For an `amqps` URL.
        var tls = TLSClientConfiguration()
        /// nil: the host of the URL.
        var serverName: String?
        /// Whether the certificate that it shows says who logs in, where the broker offers that.
        var prefersCertificate: Bool { url.usesTLS && tls.identity != nil && !namesUser }
        /// The management API, with credentials; nil: what only it shows is not seen.
        var management: HTTPURL?

        struct Queue: Sendable, Equatable {
            var name: String
            /// nil: `Limits.inFlightMax`.
            var prefetch: Int?
            /// nil: the topology's own choice.
            var routingKey: String?
            var shards = 1
        }
    }

    struct APNs: Sendable {
        var keys: [Key] = []
        var certificates: [Certificate] = []
        var production = Server(APNSEnvironment.production)
        var sandbox = Server(APNSEnvironment.sandbox)
        /// nil: none.
        var proxy: Proxy?
        /// nil: the pool's own choice.
        var connectionsMax: Int?
        var requestTimeoutSeconds: Int64?
        var socket = ConnectOptions()

        func server(of environment: APNSEnvironment) -> Server {
            switch environment {
            case .production: production
            case .sandbox: sandbox
            }
        }

        var warnings: [String] {
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
        struct Proxy: Sendable, Equatable {
            var url: HTTPURL
            /// nil: nothing is reached without.
            var exemptions: ProxyExemptions?
        }

        struct Key: Sendable {
            var keyID: String
            var teamID: String
            var privateKey: ES256PrivateKey
            /// nil: it stands in the configuration, or in the environment.
            var file: String?
            /// Where Apple takes it.
            var environments = APNSEnvironment.allCases
        }

        /// A provider's certificate, and the key that belongs to it.
        struct Certificate: Sendable {
            /// What it is for, and the environment if there is but one.
            var name: String
            /// As the configuration names it.
            var file: String
            /// Where the private key is.
            var keyPath: String
            var identity: TLSIdentity
            var contents: PushCertificate

        }

        struct Server: Sendable {
            var endpoint: Endpoint
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

    struct App: Sendable, Equatable {
        var bundleID: String
        /// With what it is pushed to, wherever that is possible.
        var credentials: [APNSEnvironment: AppCredentials.Chosen]
        /// Where messages go that do not say it themselves.
        var environment: APNSEnvironment
        /// Those of its own; `Limits.eachApp` has the others.
        var limits = PushLimits()

        /// An app ID may end so, but this one is more likely a topic.
        var warning: String? {
            let suffixes = PushType.allCases.map { "\($0.topicSuffix)" }.filter { !$0.isEmpty }
            guard !bundleID.hasPrefix("pass."), let suffix = suffixes.first(where: bundleID.hasSuffix) else {
                return nil
            }
            return "apps: \(bundleID) ends like a topic: write the bundle ID (\(bundleID.dropLast(suffix.count))?); "
                + "a push type adds \(suffix) to it"
        }
    }

    struct Limits: Sendable, Equatable {
        var inFlightMax = 1000
        var messageBytesMax = 1 << 20
        var bodiesInFlightBytesMax = 64 << 20
        var drainDeadlineSeconds = 25
        var eachApp = PushLimits()
    }

    /// Where a worker can be asked how it stands.
    struct Admin: Sendable, Equatable {
        static let defaultEndpoint = Endpoint(host: "127.0.0.1", port: 9780)

        var isEnabled = true
        /// nil: ``defaultEndpoint``, or any free port where that is taken.
        var listen: Endpoint?
        /// nil: in the user's own folder for such things.
        var socketPath: String?
    }

    /// Where spans go.
    struct Tracing: Sendable, Equatable {
        /// Of a collector that takes OTLP/JSON.
        var endpoint: HTTPURL
        var serviceName = "martlet"
    }

    /// Commands for broadcast channels.
    struct Channels: Sendable, Equatable {
        /// Of the queues that replies may go to; nil: only straight back.
        var replyPrefix: String?
    }

    /// What lanes consume from, the most important first, each before its shards.
    var requestQueues: [RequestQueue] {
        broker.names.requestQueues.flatMap { name in
            let prefetch = broker.requestQueues.first { $0.name == name }?.prefetch
            return RequestQueue(name: name, prefetch: prefetch ?? limits.inFlightMax)
                .shared(among: broker.names.shards(of: name))
        }
    }

    /// Channels on the connection on which a lane consumes: one for each request queue, for the quarantine and for the queue
    /// of expired messages.
    var consumerChannels: Int { requestQueues.count + LaneConfiguration.consumersBesidesRequests }

    /// Settings that keep no worker from starting and are probably mistakes.
    var warnings: [String] { apns.warnings + apps.compactMap(\.warning) }

    func limits(of app: App) -> PushLimits {
        PushLimits(
            inFlightMax: app.limits.inFlightMax ?? limits.eachApp.inFlightMax,
            perSecondMax: app.limits.perSecondMax ?? limits.eachApp.perSecondMax)
    }

    static func topology(
        _ broker: Broker, _ retry: RetrySchedule, _ results: ResultsRetention, _ channels: Channels?
    ) -> Topology {
        var routingKeys: [String: String] = [:]
        for queue in broker.requestQueues { routingKeys[queue.name] = queue.routingKey }
        return Topology(
            names: broker.names, waits: retry.waits, results: results, hasChannelCommands: channels != nil,
            routingKeys: routingKeys)
    }
}
