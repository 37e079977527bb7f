import AMQP
import APNSProtocol
import Crypto
import Delivery
import EventLoop
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
    var retry = Retry()
    /// nil: one for each processor.
    var lanes: Int?
    var logLevel = LogLevel.info

    struct Broker: Sendable {
        var url: AMQPURL
        /// nil: what the URL says.
        var heartbeatSeconds: Int?
        var names = TopologyNames()
        /// For an `amqps` URL.
        var tls = TLSClientConfiguration()
        /// nil: the host of the URL.
        var serverName: String?
    }

    struct APNs: Sendable {
        var keys: [Key]
        var production = Server(APNSEnvironment.production)
        var sandbox = Server(APNSEnvironment.sandbox)
        var connectionsMax = 2
        var requestTimeoutSeconds = 30

        func server(of environment: APNSEnvironment) -> Server {
            switch environment {
            case .production: production
            case .sandbox: sandbox
            }
        }

        struct Key: Sendable {
            var keyID: String
            var teamID: String
            var privateKey: ES256PrivateKey
        }

        struct Server: Sendable {
            var endpoint: Endpoint
            /// Who may have signed its certificate.
            var trust = TLSTrust.system

            init(_ environment: APNSEnvironment) {
                endpoint = Endpoint(host: environment.pushHost, port: APNSEnvironment.pushPort)
            }
        }
    }

    struct App: Sendable, Equatable {
        var bundleID: String
        /// Key ID of one of the keys.
        var keyID: String
        var environment: APNSEnvironment
    }

    struct Limits: Sendable, Equatable {
        var inFlightMax = 1000
        var messageBytesMax = 1 << 20
        var bodiesInFlightBytesMax = 64 << 20
        var drainDeadlineSeconds = 25
    }

    struct Retry: Sendable, Equatable {
        var attemptsMax = 8
        /// Whether a push whose answer never came is sent again.
        var resendsUnknown = true
        var waits = WaitDelay.defaults
    }

    static func topology(_ names: TopologyNames, _ retry: Retry) -> Topology {
        Topology(names: names, waits: retry.waits)
    }
}
