import APNSProtocol
import EventLoop

/// The network to APNs, which can fail separately for each environment.
final class SimulatedNetwork {
    enum State {
        case open
        /// A network without a listening server.
        case refused
        /// A server that accepts the connection and stays silent.
        case silent
        /// Another server, whose certificate does not verify.
        case wrongCertificate
        /// A server that refuses the worker's certificate as revoked.
        case certificateRefused
    }

    static let broker = Endpoint(host: "broker", port: 5672)
    static let silence = Endpoint(host: "silence", port: 443)
    static let nowhere = Endpoint(host: "nowhere", port: 1)

    var production = State.open
    var sandbox = State.open

    func state(to environment: APNSEnvironment) -> State { environment == .production ? production : sandbox }

    func set(_ state: State, to environment: APNSEnvironment) {
        switch environment {
        case .production: production = state
        case .sandbox: sandbox = state
        }
    }

    static func apns(_ environment: APNSEnvironment, worker: Int) -> Endpoint {
        Endpoint(host: "\(environment.rawValue).worker\(worker)", port: 443)
    }
}

/// The host of a worker. It opens connections to the broker and to APNs only while it is up.
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
    private let state: () -> SimulatedNetwork.State

    init(loop: EventLoop, endpoint: Endpoint, host: SimulatedHost, state: @escaping () -> SimulatedNetwork.State) {
        self.host = host
        self.state = state
        super.init(loop: loop, endpoint: endpoint)
    }

    override func connect(_ handler: ByteStreamHandler) -> ByteTransport {
        switch state() {
        case .open: host.connect(loop, endpoint, handler)
        case .refused: host.connect(loop, SimulatedNetwork.nowhere, handler)
        case .silent: host.connect(loop, SimulatedNetwork.silence, handler)
        case .wrongCertificate:
            FailingTransport(loop, handler, TransportError(.certificate, "the certificate does not verify"))
        case .certificateRefused:
            FailingTransport(loop, handler, TransportError(.certificateRefused, "the certificate was revoked"))
        }
    }
}

/// A transport whose TLS handshake fails.
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
