import AMQP
import Configuration
import EventLoop
import Text

extension DoctorCheck {
    /// The check that looks up the name of each host, connects and logs in.
    static let broker = DoctorCheck(name: "broker", secondsMax: 30) { context, loop, findings in
        guard let broker = context.broker else {
            return [
                .unseen(
                    "broker", "the broker settings are missing or have mistakes", remedy: "correct the settings first")
            ]
        }
        let endpoints = broker.url.endpoints
        await findings.collect(endpoints.map(\.description)) { index in
            var line = await visit(
                endpoints[index], broker, channels: context.configuration?.consumerChannels ?? 1, loop)
            // A worker needs only one of the hosts.
            if line.state == .failure, endpoints.count > 1 { line.state = .warning }
            findings.found(line)
        }
        guard endpoints.count > 1, findings.lines.allSatisfy({ $0.state == .warning }) else { return [] }
        return [
            .failure(
                "broker", "none of the \(endpoints.count) hosts accepts this worker",
                remedy: "remove the cause of one warning; a worker needs one host")
        ]
    }

    /// Timeout for the connection, and for each response.
    static let brokerAnswerSecondsMax = 5

    /// Checks one host.
    ///
    /// - Parameter channels: channels that a worker needs on one connection.
    private static func visit(
        _ endpoint: Endpoint, _ broker: WorkerConfiguration.Broker, channels: Int, _ loop: EventLoop
    ) async -> DoctorLine {
        var alone = broker
        alone.url.endpoints = [endpoint]
        let place = endpoint.description
        guard let connector = try? BrokerConnector(alone) else {
            return .failure("broker", "\(place): cannot set up TLS", remedy: "check amqp.tls")
        }
        let names = await NameLookup.addresses(of: endpoint)
        guard !names.isEmpty else {
            return .failure(
                "broker", "\(place): the name has no address",
                remedy: "check the host of amqp.url and this machine's name server")
        }
        let begin = loop.now.monotonic
        let admin = connector.admin(named: "martlet doctor", on: loop, deadlineSeconds: brokerAnswerSecondsMax)
        BrokerWait.follow(admin.connection, connector)
        admin.start()
        let line: DoctorLine
        do throws(AMQPError) {
            try await admin.waitUntilReady(deadlineSeconds: brokerAnswerSecondsMax)
            let milliseconds = begin.duration(to: loop.now.monotonic) / .milliseconds(1)
            let allowed = admin.connection.channelMax ?? channels
            line =
                allowed < channels
                ? tooFewChannels(place, allowed, needed: channels)
                : .ok(
                    "broker",
                    "\(place) (\(names.joined(separator: ", "))): \(product(admin.serverProperties)), "
                        + "logged in \(login(broker)) in \(Int(milliseconds)) ms")
        } catch {
            line = .failure("broker", "\(place): \(error.message)", remedy: remedy(error, broker))
        }
        await admin.close(deadlineSeconds: 1)
        return line
    }

    static func tooFewChannels(_ place: String, _ allowed: Int, needed: Int) -> DoctorLine {
        .failure(
            "broker", "\(place): a worker needs \(needed) channels on a connection, but the broker allows \(allowed)",
            remedy: "set channel_max = \(needed) or more in rabbitmq.conf, and restart the broker")
    }

    private static func login(_ broker: WorkerConfiguration.Broker) -> String {
        guard !broker.prefersCertificate else { return "by certificate" }
        return "as \(broker.url.credentials.user)\(broker.url.usesTLS ? " over TLS" : "")"
    }

    private static func product(_ properties: FieldTable) -> String {
        let words = ["product", "version"].compactMap { properties[$0]?.stringValue }
        return words.isEmpty ? "unidentified broker" : words.joined(separator: " ")
    }

    private static func remedy(_ error: AMQPError, _ broker: WorkerConfiguration.Broker) -> String {
        switch error.code {
        case .accessRefused:
            "check the user and the password in amqp.url (guest may log in only from the broker's machine)"
        case .notFound:
            "correct the virtual host in amqp.url, or run: rabbitmqctl add_vhost "
                + Shell.quoted(broker.url.virtualHost)
        case .protocolViolation: "check that this is an AMQP port, with TLS if amqp.url begins with amqps"
        case .timedOut:
            "check that this is an AMQP port, that no firewall drops packets, and that the broker has no alarm"
        case .cannotConnect, .connectionLost:
            broker.url.usesTLS
                ? "check that the broker runs, and that amqp.tls.ca_file verifies the certificate of this host"
                : "check that the broker runs and listens on this port"
        case .resourceLocked, .preconditionFailed, .connectionForced, .consumerCancelled, .refused, .closed,
            .invalidURL:
            "see the broker's log"
        }
    }
}
