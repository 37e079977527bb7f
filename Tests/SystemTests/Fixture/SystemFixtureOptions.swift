import Crypto
import TestKit

extension SystemFixture {
    /// What is special about a fixture.
    struct Options {
        /// More arguments of the simulator.
        var simulator: [String] = []
        var inFlightMax = 1000
        var drainDeadlineSeconds = 25
        var resendsUnknown = true
        /// Of the worker, when it is not the simulator's.
        var keyPEM: String?
        /// Where the worker finds the broker, when it is not the shared one.
        var url: String?
        /// PEM; what an `amqps` URL is trusted by.
        var brokerAuthority: String?
        /// What the worker shows to it.
        var brokerIdentity: IssuedCertificate?
        /// Besides the demonstration's.
        var keys: [FixtureKey] = []
        var certificates: [FixtureCertificate] = []
        /// In YAML's flow style, by app; of those of `keys`.
        var appLimits: [String: String] = [:]
        /// After which messages come back, as the configuration writes them.
        var delays = ["1h"]
        var lanes = 1
        var connectionsMax = 2
        /// By which the worker knows the simulator.
        var host = "127.0.0.1"
        /// URL of the proxy on the way to APNs; nil: as the worker's environment says.
        var proxy: String? = "none"
        var heartbeatSeconds: Int?
        /// Whether both environments are there.
        var hasSandbox = false
        /// Whether the configuration says where the second is.
        var namesSandbox = true
        /// Where the sandbox is if it is not the simulator's.
        var sandboxPort: Int?
        /// Of production, where it is not that of pushes to devices.
        var broadcastHost: String?
        /// Last words of the names of several request queues; none: there is one.
        var requestQueues: [String] = []
        /// Of the queue of requests, where it is the only one.
        var shards = 1
        /// The section of the configuration, in YAML's flow style.
        var admin = "{enabled: false}"
        /// Further sections, a line each in YAML's flow style.
        var sections: [String] = []
        /// Contents by name, beside the configuration.
        var files: [String: String] = [:]
    }
}

extension SystemFixture.Options {
    /// The file that a worker of the fixture reads.
    func configuration(prefix: String, brokerURL: String, _ simulator: SimulatorProcess) -> String {
        var lines = ["amqp:", "  url: \(url ?? brokerURL)", "  prefix: \(prefix)"]
        let identity = brokerIdentity == nil ? "" : ", certificate_file: worker.pem, key_file: worker.key"
        if brokerAuthority != nil { lines.append("  tls: {ca_file: broker-ca.pem\(identity)}") }
        if let heartbeatSeconds { lines.append("  heartbeat_seconds: \(heartbeatSeconds)") }
        if shards > 1 { lines.append("  request_queues: [{name: \(prefix).requests, shards: \(shards)}]") }
        if !requestQueues.isEmpty { lines.append("  request_queues:") }
        for word in requestQueues { lines.append("    - {name: \(prefix).requests.\(word)}") }
        lines += ["apns:", "  connections_max: \(connectionsMax)"]
        if let proxy { lines.append("  proxy: \(proxy)") }
        lines.append("  keys:")
        let file = keyPEM == nil ? "AuthKey_DEMOKEY001.p8" : "other.p8"
        lines.append("    - {key_id: DEMOKEY001, team_id: DEMOTEAM01, key_file: \(file)}")
        for key in keys {
            let pin = key.isPinned ? ", environments: [\(key.environments.joined(separator: ","))]" : ""
            lines.append("    - {key_id: \(key.id), team_id: DEMOTEAM01, key_file: \(key.fileName)\(pin)}")
        }
        if !certificates.isEmpty { lines.append("  certificates:") }
        for certificate in certificates { lines.append("    - \(certificate.entry)") }
        let more =
            (broadcastHost.map { ", broadcast_host: \($0)" } ?? "")
            + (simulator.channelPort.map { ", channel_port: \($0)" } ?? "")
        lines += [
            "  endpoints:", "    production: {host: \(host), port: \(simulator.port), ca_file: ca.pem\(more)}",
        ]
        if namesSandbox, let port = sandboxPort ?? simulator.sandboxPort {
            lines.append("    sandbox: {host: 127.0.0.1, port: \(port), ca_file: ca.pem}")
        }
        lines += ["apps:", "  com.example.app: {key: DEMOKEY001}"]
        for certificate in certificates { lines.append("  \(certificate.app): {}") }
        for key in keys {
            for app in key.apps {
                let limits = appLimits[app].map { ", limits: \($0)" } ?? ""
                lines.append("  \(app): {key: \(key.id)\(limits)}")
            }
        }
        lines += [
            "limits: {in_flight_max: \(inFlightMax), drain_deadline_seconds: \(drainDeadlineSeconds)}",
            "retry: {resend_unknown: \(resendsUnknown), delays: [\(delays.joined(separator: ","))]}",
            "lanes: \(lanes)", "admin: \(admin)",
        ]
        lines += sections
        return lines.joined(separator: "\n") + "\n"
    }
}
