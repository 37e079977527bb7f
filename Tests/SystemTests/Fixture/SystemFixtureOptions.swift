import Crypto
import TestKit

extension SystemFixture {
    /// The settings in which a fixture differs from the default.
    struct Options {
        /// Additional arguments of the simulator.
        var simulator: [String] = []
        var inFlightMax = 1000
        var drainDeadlineSeconds = 25
        var resendsUnknown = true
        /// The provider key that the worker uses; nil for the simulator's demonstration key.
        var keyPEM: String?
        /// The broker URL of the worker; nil for the URL that the test uses.
        var url: String?
        /// The authority of the broker's TLS certificate, in PEM.
        var brokerAuthority: String?
        /// The TLS client certificate of the worker at the broker.
        var brokerIdentity: IssuedCertificate?
        /// Keys in addition to the demonstration key.
        var keys: [FixtureKey] = []
        var certificates: [FixtureCertificate] = []
        /// The limits of the apps in `keys`, in YAML's flow style, by bundle ID.
        var appLimits: [String: String] = [:]
        /// The retry delays, in the configuration's format.
        var delays = ["1h"]
        var lanes = 1
        var connectionsMax = 2
        /// The host name of the production endpoint.
        var host = "127.0.0.1"
        /// The URL of the HTTP proxy; "none" for no proxy, nil for the environment's proxy.
        var proxy: String? = "none"
        var heartbeatSeconds: Int?
        /// Whether the simulator also serves the sandbox environment.
        var hasSandbox = false
        /// Whether the configuration contains the sandbox endpoint.
        var namesSandbox = true
        /// The port of the sandbox endpoint; nil for the simulator's sandbox port.
        var sandboxPort: Int?
        /// The broadcast host of the production endpoint; nil for the host of device pushes.
        var broadcastHost: String?
        /// The name suffixes of the request queues; empty for a single queue.
        var requestQueues: [String] = []
        /// The shard count of a single request queue.
        var shards = 1
        /// The `admin` section of the configuration, in YAML's flow style.
        var admin = "{enabled: false}"
        /// Additional sections of the configuration, one line each.
        var sections: [String] = []
        /// Additional files in the configuration's folder: contents by name.
        var files: [String: String] = [:]
        /// Additional files in the configuration's folder that only their owner may read: contents by name.
        var secrets: [String: String] = [:]
    }
}

extension SystemFixture.Options {
    /// Returns the text of the configuration file.
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
