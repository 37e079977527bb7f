import APNSProtocol
import EventLoop

/// The way to APNs, which fails for one environment or the other, and where the workers' connections are.
final class SimulatedNetwork {
    enum Way {
        case open
        /// Nobody listens.
        case refused
        /// Somebody takes the connection and says nothing.
        case silent
        /// Somebody else answers: the certificate does not verify.
        case wrongCertificate
        /// APNs takes ours for revoked.
        case certificateRefused
    }

    static let broker = Endpoint(host: "broker", port: 5672)
    static let silence = Endpoint(host: "silence", port: 443)
    static let nowhere = Endpoint(host: "nowhere", port: 1)

    var production = Way.open
    var sandbox = Way.open

    func way(to environment: APNSEnvironment) -> Way { environment == .production ? production : sandbox }

    func set(_ way: Way, to environment: APNSEnvironment) {
        switch environment {
        case .production: production = way
        case .sandbox: sandbox = way
        }
    }

    static func apns(_ environment: APNSEnvironment, worker: Int) -> Endpoint {
        Endpoint(host: "\(environment.rawValue).worker\(worker)", port: 443)
    }
}

/// Connects a worker for as long as its host is up.
final class SimulatedHost {
    fileprivate(set) var isUp = true
    private var transports: [ByteTransport] = []
    fileprivate var number = 0

    func kill() {
        isUp = false
        for transport in transports { transport.reset() }
        transports = []
    }

    fileprivate func connect(_ loop: EventLoop, _ endpoint: Endpoint, _ handler: ByteStreamHandler) -> ByteTransport {
        let transport = loop.connect(to: isUp ? endpoint : SimulatedNetwork.nowhere, handler: handler)
        transports.append(transport)
        return transport
    }
}

final class SimulatedConnector: ByteConnector {
    private let host: SimulatedHost
    private let way: () -> SimulatedNetwork.Way

    init(loop: EventLoop, endpoint: Endpoint, host: SimulatedHost, way: @escaping () -> SimulatedNetwork.Way) {
        self.host = host
        self.way = way
        super.init(loop: loop, endpoint: endpoint)
    }

    override func connect(_ handler: ByteStreamHandler) -> ByteTransport {
        switch way() {
        case .open: host.connect(loop, endpoint, handler)
        case .refused: host.connect(loop, SimulatedNetwork.nowhere, handler)
        case .silent: host.connect(loop, SimulatedNetwork.silence, handler)
        case .wrongCertificate:
            FailingTransport(loop, handler, TransportError(.certificate, "the certificate does not verify"))
        case .certificateRefused:
            FailingTransport(loop, handler, TransportError(.certificateRefused, "our certificate was revoked"))
        }
    }
}

/// A stream that TLS does not let come about.
private final class FailingTransport: ByteTransport {
    init(_ loop: EventLoop, _ handler: ByteStreamHandler, _ error: TransportError) {
        super.init(loop: loop, handler: handler)
        loop.schedule(after: .milliseconds(1)) { [self] in end(error) }
    }

    private func end(_ error: TransportError?) {
        let handler = handler
        self.handler = nil
        handler?.closed(error)
    }

    override func close() { reset() }

    override func reset() { loop.schedule(after: .zero) { [self] in end(nil) } }
}
