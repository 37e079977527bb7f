import Crypto
import EventLoop
import TLS
import Testing

/// Certificates shared by all tests, since generating keys is slow.
enum Certificates {
    static let authority = try! CertificateAuthority.make(name: "Tests")
    static let stranger = try! CertificateAuthority.make(name: "Untrusted authority")
    static let server = identity(try! authority.issueServer(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"]))
    static let client = identity(try! authority.issueClient(name: "worker"))

    static func identity(_ issued: IssuedCertificate) -> TLSIdentity {
        TLSIdentity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.privateKeyPEM)
    }
}

extension TLSClientConfiguration {
    static var trusting: TLSClientConfiguration { .init(trust: .pem(Certificates.authority.certificatePEM)) }
}

extension TLSServerConfiguration {
    static var trusted: TLSServerConfiguration { .init(identity: Certificates.server) }
}

/// One end of a connection, which records its events.
final class End: ByteStreamHandler {
    var transport: ByteTransport?
    var isConnected = false
    var received: [UInt8] = []
    var hasPeerFinished = false
    var isClosed = false
    var error: TransportError?
    /// Data that is not written yet.
    var unsent: [UInt8] = []
    var writableCount = 0
    var onConnected: (End) -> Void = { _ in }
    var onReceived: (End) -> Void = { _ in }
    var onPeerFinished: (End) -> Void = { $0.transport?.close() }

    var tls: TLSTransport? { transport as? TLSTransport }

    func send(_ bytes: [UInt8]) {
        unsent += bytes
        drain()
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    private func drain() {
        guard let transport, !unsent.isEmpty else { return }
        let written = unsent.withUnsafeBytes { transport.write($0) }
        unsent.removeFirst(written)
    }

    override func connected(_ transport: ByteTransport) {
        #expect(!isConnected && !isClosed)
        isConnected = true
        self.transport = transport
        onConnected(self)
        drain()
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        #expect(isConnected && !isClosed && !hasPeerFinished && !bytes.isEmpty)
        received += bytes
        onReceived(self)
    }

    override func writable() {
        writableCount += 1
        drain()
    }

    override func peerFinished() {
        #expect(isConnected && !isClosed && !hasPeerFinished)
        hasPeerFinished = true
        onPeerFinished(self)
    }

    override func closed(_ error: TransportError?) {
        #expect(!isClosed)
        isClosed = true
        self.error = error
        transport = nil
    }
}

/// A handler that forwards bytes in parts of a given size, and ends the stream after a given number of bytes.
final class Pieces: ByteStreamHandler {
    private let next: ByteStreamHandler
    private let pieceBytes: Int
    private var bytesLeft: Int

    init(_ next: ByteStreamHandler, pieceBytes: Int, endAfter: Int) {
        self.next = next
        self.pieceBytes = pieceBytes
        bytesLeft = endAfter
    }

    override func connected(_ transport: ByteTransport) {
        next.connected(transport)
        if bytesLeft == 0 { next.peerFinished() }
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        guard bytesLeft > 0 else { return }
        var rest = bytes.prefix(bytesLeft)
        while !rest.isEmpty {
            // Pass a separate copy, so that the address sanitizer detects a read beyond it.
            Array(rest.prefix(pieceBytes)).withUnsafeBytes { next.received($0) }
            bytesLeft -= min(pieceBytes, rest.count)
            rest = rest.dropFirst(pieceBytes)
        }
        if bytesLeft == 0 { next.peerFinished() }
    }

    override func writable() { next.writable() }
    override func peerFinished() { if bytesLeft > 0 { next.peerFinished() } }
    override func closed(_ error: TransportError?) { next.closed(error) }
    override func flush() { next.flush() }
}

/// A transport that accepts a limited number of bytes, like a transport whose peer reads slowly.
final class Valve: ByteTransport {
    var below: ByteTransport?
    private(set) var allowance = Int.max
    private var isWanted = false

    /// Sets the number of bytes that the transport accepts from now on. If the number is not 0 and the last write was
    /// incomplete, notifies the handler.
    func allow(_ bytes: Int) {
        allowance = bytes
        guard isWanted, bytes > 0 else { return }
        isWanted = false
        handler?.writable()
    }

    override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let written = below?.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(allowance))) ?? 0
        allowance -= written
        isWanted = written < bytes.count
        return written
    }

    override func pauseReading() { below?.pauseReading() }
    override func resumeReading() { below?.resumeReading() }
    override func finishWriting() { below?.finishWriting() }
    override func close() { below?.close() }
    override func reset() { below?.reset() }
}

/// A connector that opens streams whose bytes arrive in parts, and whose output a valve may limit.
final class PieceConnector: ByteConnector {
    var pieceBytes = Int.max
    var endAfter = Int.max
    var valve: Valve?

    override func connect(_ handler: ByteStreamHandler) -> ByteTransport {
        let below = loop.connect(to: endpoint, handler: Pieces(handler, pieceBytes: pieceBytes, endAfter: endAfter))
        valve?.handler = handler
        valve?.below = below
        return valve ?? below
    }
}

/// A client and a server on a virtual network.
final class Wire {
    struct Options {
        var serverName = "localhost"
        var clientPieceBytes = Int.max
        var serverPieceBytes = Int.max
        var clientInputEndsAfter = Int.max
        var serverInputEndsAfter = Int.max
        /// The transport that limits the client's output.
        var clientValve: Valve?
        /// The server's decision about a client's certificate.
        var admits: (([UInt8]) -> Bool)?
        var seed: UInt64 = 1
    }

    let loop: VirtualLoop
    let client = End()
    let server = End()
    let endpoint = Endpoint(host: "server.test", port: 443)
    private let connector: TLSConnector

    convenience init(
        client: TLSClientConfiguration = .trusting, server: TLSServerConfiguration = .trusted,
        _ options: Options = Options()
    ) throws {
        try self.init(TLSContext(client: client), TLSContext(server: server), options)
    }

    init(_ clientContext: TLSContext, _ serverContext: TLSContext, _ options: Options = Options()) throws {
        let loop = VirtualLoop(seed: options.seed)
        self.loop = loop
        let (endpoint, server) = (endpoint, server)
        connector = try loop.enter {
            _ = try loop.listen(on: endpoint) { accepted in
                _ = try? TLSTransport.accept(
                    accepted, context: serverContext, handler: server, admits: options.admits)
                guard let handler = accepted.handler else { return }
                accepted.handler = Pieces(
                    handler, pieceBytes: options.serverPieceBytes, endAfter: options.serverInputEndsAfter)
            }
            let below = PieceConnector(loop: loop, endpoint: endpoint)
            below.pieceBytes = options.clientPieceBytes
            below.endAfter = options.clientInputEndsAfter
            below.valve = options.clientValve
            return TLSConnector(over: below, context: clientContext, serverName: options.serverName)
        }
    }

    /// Connects the client, and runs the loop until `isDone` returns true, no work remains, or the limit elapses.
    @discardableResult
    func start(limit: Duration = .seconds(60), until isDone: () -> Bool) -> VirtualLoop.Outcome {
        loop.enter { client.transport = connector.connect(client) }
        return run(limit: limit, until: isDone)
    }

    @discardableResult
    func run(limit: Duration = .seconds(60), until isDone: () -> Bool) -> VirtualLoop.Outcome {
        loop.run(limit: limit, until: isDone)
    }

    var areConnected: Bool { client.isConnected && server.isConnected }
    var areClosed: Bool { client.isClosed && server.isClosed }

    /// Closes the client's end and waits until both ends are closed.
    func close() {
        loop.enter { client.transport?.close() }
        let ending = run { areClosed }
        #expect(ending == .done)
    }
}
