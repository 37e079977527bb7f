import AMQP
import Configuration
import EventLoop
import Text

extension DoctorCheck {
    /// Name, connection and login, of each host.
    static let broker = DoctorCheck(name: "broker", secondsMax: 30) { context, loop, findings in
        guard let broker = context.broker else {
            return [.unseen("broker", "the configuration does not say which", remedy: "mend it first")]
        }
        let endpoints = broker.url.endpoints
        await findings.ask(endpoints.map(\.description)) { index in
            var line = await visit(
                endpoints[index], broker, channels: context.configuration?.consumerChannels ?? 1, loop)
            // A worker needs one of them.
            if line.state == .failure, endpoints.count > 1 { line.state = .warning }
            findings.found(line)
        }
        guard endpoints.count > 1, findings.lines.allSatisfy({ $0.state == .warning }) else { return [] }
        return [
            .failure(
                "broker", "none of the \(endpoints.count) hosts takes this worker",
                remedy: "mend one of them; a worker needs no more")
        ]
    }

    /// Of a connection that is to come up, and of an answer.
    static let brokerAnswerSecondsMax = 5

    /// - Parameter channels: that a worker needs on one connection.
    private static func visit(
        _ endpoint: Endpoint, _ broker: WorkerConfiguration.Broker, channels: Int, _ loop: EventLoop
    ) async -> DoctorLine {
        var alone = broker
        alone.url.endpoints = [endpoint]
        let place = endpoint.description
        guard let connector = try? BrokerConnector(alone) else {
            return .failure("broker", "\(place): TLS cannot be set up", remedy: "look at amqp.tls")
        }
        let names = await NameLookup.addresses(of: endpoint)
        guard !names.isEmpty else {
            return .failure(
                "broker", "\(place): there is no address for this name",
                remedy: "look at the host of amqp.url, and at the name server of this machine")
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
            "broker", "\(place): a worker needs \(needed) channels on a connection and the broker allows \(allowed)",
            remedy: "set channel_max = \(needed) or more in rabbitmq.conf, and restart the broker")
    }

    private static func login(_ broker: WorkerConfiguration.Broker) -> String {
        guard !broker.prefersCertificate else { return "by certificate" }
        return "as \(broker.url.credentials.user)\(broker.url.usesTLS ? " over TLS" : "")"
    }

    private static func product(_ properties: FieldTable) -> String {
        let words = ["product", "version"].compactMap { properties[$0]?.stringValue }
        return words.isEmpty ? "a broker that does not say what it is" : words.joined(separator: " ")
    }

    private static func remedy(_ error: AMQPError, _ broker: WorkerConfiguration.Broker) -> String {
        switch error.code {
        case .accessRefused:
            "look at user and password of amqp.url (guest may log in from the broker's own machine only)"
        case .notFound:
            "make the virtual host, or name another at the end of amqp.url: rabbitmqctl add_vhost "
                + Shell.quoted(broker.url.virtualHost)
        case .protocolViolation: "is this the port of AMQP, and does it take TLS where amqp.url says amqps?"
        case .timedOut:
            "is this the port of AMQP? A firewall may drop packets, or the broker may be stopped or under an alarm"
        case .cannotConnect, .connectionLost:
            broker.url.usesTLS
                ? "is the broker running, and does its certificate lead to amqp.tls.ca_file and name this host?"
                : "is the broker running, and does it listen there?"
        case .resourceLocked, .preconditionFailed, .connectionForced, .consumerCancelled, .refused, .closed,
            .invalidURL:
            "the broker's own log says more"
        }
    }
}
