import AMQP
import BrokerTopology
import Configuration
import EventLoop
import Text

extension DoctorCheck {
    /// The check that a worker can read the streams of fleet control: one host needs a replica of each stream. It reads
    /// no record to its end. It returns no line without fleet control, or if the configuration has mistakes.
    static let fleetControl = DoctorCheck(name: "fleet control", secondsMax: 30) { context, loop, findings in
        guard let broker = context.broker, let topology = context.topology, topology.hasFleetControl else { return [] }
        let endpoints = broker.url.endpoints
        let streams = [topology.names.pausesStream, topology.names.commandsStream]
        let places = StreamPlaces()
        await findings.collect(endpoints.map(\.description)) { index in
            var alone = broker
            alone.url.endpoints = [endpoints[index]]
            guard let connector = try? BrokerConnector(alone) else { return }
            for stream in streams {
                let reading = await StreamTrial(stream, connector, on: loop).run(secondsMax: brokerAnswerSecondsMax)
                places.readings[endpoints[index].description, default: []].append((stream, reading))
            }
        }
        return lines(endpoints.map(\.description), places.readings, virtualHost: broker.url.virtualHost)
    }

    /// The readings by host. Loop-bound.
    ///
    /// `@unchecked Sendable`: only the loop uses the object.
    private final class StreamPlaces: @unchecked Sendable {
        var readings: [String: [(stream: String, result: StreamTrial.Result)]] = [:]
    }

    /// - Parameters:
    ///   - hosts: the hosts of the broker.
    ///   - readings: the attempts to read each stream, by host.
    static func lines(
        _ hosts: [String], _ readings: [String: [(stream: String, result: StreamTrial.Result)]], virtualHost: String
    ) -> [DoctorLine] {
        let check = "fleet control"
        let complete = hosts.filter { host in
            readings[host].map { !$0.isEmpty && $0.allSatisfy { $0.result == .attached } } ?? false
        }
        let lacking = hosts.flatMap { host in
            (readings[host] ?? []).filter { $0.result == .noReplica }.map { (host: host, stream: $0.stream) }
        }
        // A worker tries the hosts until it finds a host with both streams.
        let isFault = complete.isEmpty && !lacking.isEmpty
        var lines = lacking.map { host, stream in
            DoctorLine(
                check: check, state: isFault ? .failure : .warning, text: "\(host) has no replica of stream \(stream)",
                remedy: "to add a replica on the node of this host, run: rabbitmq-streams add_replica --vhost "
                    + "\(Shell.quoted(virtualHost)) \(Shell.quoted(stream)) NODE")
        }
        for host in hosts {
            for case (let stream, .failed(let reason)) in readings[host] ?? [] {
                lines.append(.unseen(check, "\(host): whether stream \(stream) has a replica: \(reason)"))
            }
        }
        guard !complete.isEmpty else { return lines }
        let count = complete.count == hosts.count ? "" : " (\(complete.count) of \(hosts.count.counted("host")))"
        return [.ok(check, "\(complete.joined(separator: ", ")): workers can read pauses and commands\(count)")] + lines
    }
}

/// An attempt to read a stream from one host. Loop-bound.
final class StreamTrial: StreamReaderHandler {
    enum Result: Equatable, Sendable {
        case attached
        case noReplica
        /// Another error, which another check reports: a missing stream or permission, or a host that does not answer.
        case failed(String)
    }

    private let loop: EventLoop
    private let connection: BrokerConnection
    private let reader: StreamReader
    private var result: Result?
    private var waiter: UnsafeContinuation<Void, Never>?

    init(_ stream: String, _ connector: BrokerConnector, on loop: EventLoop) {
        self.loop = loop
        connection = BrokerConnection(
            loop: loop, connectors: connector.connectors(on: loop),
            configuration: connector.connection(named: "martlet doctor"))
        reader = StreamReader(on: connection, configuration: StreamReaderConfiguration(stream: stream, prefetch: 1))
    }

    func run(secondsMax: Int) async -> Result {
        let timer = loop.schedule(after: .seconds(secondsMax)) { [self] in
            end(.failed("no response within \(secondsMax) s"))
        }
        reader.start(self)
        if result == nil { await withUnsafeContinuation { waiter = $0 } }
        loop.cancel(timer)
        await connection.close(deadlineSeconds: 1)
        return result ?? .failed("no response")
    }

    override func position() -> StreamPosition { .next }

    override func attached() { end(.attached) }

    override func statusChanged(_ status: BrokerStatus) {
        guard case .waiting(let error, _) = status else { return }
        end(error.code == .preconditionFailed ? .noReplica : .failed(error.message))
    }

    private func end(_ result: Result) {
        guard self.result == nil else { return }
        self.result = result
        waiter.take()?.resume()
    }
}
