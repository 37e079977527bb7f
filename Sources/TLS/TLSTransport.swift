public import EventLoop

/// TLS over any byte transport, either side. `connected` comes after the handshake; `closed` tells why it failed.
///
/// A write becomes records of 16 KiB and one write below: whoever gathers a turn's output writes it at once.
/// Certificates are verified before any byte is given to or taken from the handler.
public final class TLSTransport: ByteTransport {
    /// Time for a client's handshake with us, from the open connection below. A connector's options say it for our own.
    public static let handshakeTimeoutSeconds = 10
    /// How long `close` waits for the transport below to take what is left.
    public static let closeDeadlineSeconds = 5
    /// Plaintext handed over in one `received`: two full records, or many small ones.
    private static let plaintextBytesMax = 2 * TLSSession.recordBytesMax

    /// What can follow each is written beside it.
    private enum State {
        /// The transport below is not open yet. → handshaking, ended
        case connecting
        /// → open, ended
        case handshaking
        /// → closing, ended
        case open
        /// `close` was called, and ciphertext is left to be sent. → ended
        case closing
        /// The transport below was told to end; its `closed` is the last event.
        case ended
    }

    private let session: TLSSession
    private let handshakeSecondsMax: Int
    private var state = State.connecting
    /// Set before the loop calls anything.
    private var below: ByteTransport?
    private var failure: TransportError?
    private var timer: TimerToken?
    private var isReading = true
    private var isPumping = false
    private var isResumeScheduled = false
    private var isWaitingForRoom = false
    private var hasFinishedWriting = false
    private var hasPeerFinished = false
    private var hasInputEnded = false
    /// Ciphertext that came with the last bytes before reading was paused: at most one read of the transport below.
    private var backlog: [UInt8] = []
    private let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: plaintextBytesMax, alignment: 16)

    private init(loop: EventLoop, session: TLSSession, handshakeSecondsMax: Int, handler: ByteStreamHandler?) {
        self.session = session
        self.handshakeSecondsMax = handshakeSecondsMax
        super.init(loop: loop, handler: handler)
    }

    deinit { plaintext.deallocate() }

    /// Opens a connection and speaks TLS over it as the client.
    ///
    /// - Throws: `tls` when `name` can be the name of no server, `resources`.
    static func connect(
        over connector: ByteConnector, context: TLSContext, name: String, handler: ByteStreamHandler
    ) throws(TransportError) -> TLSTransport {
        let session = try TLSSession(context, name: name, place: connector.endpoint.description)
        let transport = TLSTransport(
            loop: connector.loop, session: session, handshakeSecondsMax: connector.options.handshakeSecondsMax,
            handler: handler)
        transport.below = connector.connect(CiphertextHandler(transport))
        return transport
    }

    /// Speaks TLS as the server over a connection that was just accepted; for the closure given to `listen`.
    ///
    /// - Parameters:
    ///   - handler: may be given later, before the closure returns.
    ///   - admits: asked about a client's certificate, in DER, when the context asks for any: the client is told that one
    ///     is revoked when it answers false. Called during the handshake.
    /// - Throws: `resources`; then the connection was reset.
    @discardableResult
    public static func accept(
        _ accepted: ByteTransport, context: TLSContext, handler: ByteStreamHandler? = nil,
        admits: (([UInt8]) -> Bool)? = nil
    ) throws(TransportError) -> TLSTransport {
        precondition(context.isServer, "a client's context cannot accept connections")
        do {
            let session = try TLSSession(context, name: nil, place: "TLS client")
            if let admits { session.admits = admits }
            let transport = TLSTransport(
                loop: accepted.loop, session: session, handshakeSecondsMax: handshakeTimeoutSeconds, handler: handler)
            transport.below = accepted
            accepted.handler = CiphertextHandler(transport)
            return transport
        } catch {
            accepted.reset()
            throw error
        }
    }

    /// The ALPN name that both sides speak; nil when none was chosen.
    public var applicationProtocol: String? { session.applicationProtocol }

    public var version: TLSVersion? { session.version }

    public override var peerAddress: [UInt8] { below?.peerAddress ?? [] }

    /// The peer's certificate in DER; nil when it has shown none. Worth nothing unless verified.
    public var peerCertificate: [UInt8]? { session.peerCertificate }

    /// Whether the peer showed a certificate and it holds. Always so on a client.
    public var hasVerifiedPeerCertificate: Bool { session.hasVerifiedPeerCertificate }

    fileprivate func belowConnected() {
        guard case .connecting = state else { return }
        state = .handshaking
        let seconds = handshakeSecondsMax
        timer = loop.schedule(after: .seconds(seconds)) { [weak self] in
            guard let self else { return }
            fail(TransportError(.timedOut, "\(session.place): no TLS handshake within \(seconds) s"))
        }
        pump(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    fileprivate func belowReceived(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        // A transport below may hand over bytes in the same breath in which it tells that it is open.
        case .connecting, .handshaking, .open: break
        case .closing, .ended: return
        }
        guard backlog.isEmpty, isReading else { return backlog.append(contentsOf: bytes) }
        pump(bytes)
    }

    fileprivate func belowFinished() {
        hasInputEnded = true
        if isReading { pumpBacklog() }
    }

    fileprivate func belowWritable() {
        sendCiphertext()
        tellOfRoom()
    }

    fileprivate func belowClosed(_ error: TransportError?) {
        let wasHandshaking = if case .handshaking = state { true } else { false }
        end()
        var reason = failure ?? error
        if failure == nil, wasHandshaking, let error {
            reason = TransportError(error.code, "TLS handshake: \(error.message)", underlying: error.underlying)
        }
        below = nil
        backlog = []
        let handler = handler
        self.handler = nil
        handler?.closed(reason)
    }

    /// Takes the handshake and the plaintext on as far as `bytes` go and the handler wants.
    private func pump(_ bytes: UnsafeRawBufferPointer) {
        isPumping = true
        let left = session.withInput(bytes, hasEnded: hasInputEnded) {
            if case .handshaking = state { continueHandshake() }
            while isReading, !hasPeerFinished, case .open = state, deliver() {}
        }
        isPumping = false
        // Bytes after close_notify mean nothing (RFC 8446, 6.1).
        if left > 0, !hasPeerFinished, isAlive { backlog.append(contentsOf: bytes.suffix(left)) }
        sendCiphertext()
        tellOfRoom()
    }

    private func pumpBacklog() {
        guard !isPumping, isAlive else { return }
        var bytes: [UInt8] = []
        swap(&bytes, &backlog)
        bytes.withUnsafeBytes { pump($0) }
    }

    private var isAlive: Bool {
        switch state {
        case .connecting, .handshaking, .open: true
        case .closing, .ended: false
        }
    }

    private func continueHandshake() {
        switch session.handshake() {
        case .needsInput: break
        case .failed(let error): fail(error)
        case .done:
            cancelTimer()
            state = .open
            sendCiphertext()
            handler?.connected(self)
        }
    }

    /// Hands over one buffer of plaintext; whether there may be more.
    private func deliver() -> Bool {
        var count = 0
        var end = TLSSession.ReadProgress.bytes(0)
        gathering: while count < plaintext.count {
            end = session.read(into: UnsafeMutableRawBufferPointer(rebasing: plaintext[count...]))
            guard case .bytes(let more) = end else { break gathering }
            count += more
        }
        if count > 0 { handler?.received(UnsafeRawBufferPointer(rebasing: plaintext[..<count])) }
        switch end {
        case .bytes: return true
        case .needsInput: return false
        case .finished:
            hasPeerFinished = true
            if case .open = state { handler?.peerFinished() }
            return false
        case .failed(let error):
            fail(error)
            return false
        }
    }

    public override func pauseReading() {
        loop.assertOnLoop()
        isReading = false
        below?.pauseReading()
    }

    public override func resumeReading() {
        loop.assertOnLoop()
        guard !isReading else { return }
        isReading = true
        // First what is left within OpenSSL and in the backlog, and not from inside the handler's call. Only a handler that
        // still reads after that gets more from below: the backlog would grow with each pause otherwise.
        guard !isResumeScheduled else { return }
        isResumeScheduled = true
        loop.schedule(after: .zero) { [self] in
            isResumeScheduled = false
            if isReading { pumpBacklog() }
            if isReading { below?.resumeReading() }
        }
    }

    public override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        loop.assertOnLoop()
        guard case .open = state, !hasFinishedWriting else { return 0 }
        var taken = 0
        repeat {
            if let error = session.write(bytes, taken: &taken) {
                failure = error
                reset()
                return taken
            }
        } while sendCiphertext() && taken < bytes.count
        isWaitingForRoom = taken < bytes.count
        return taken
    }

    /// Gives the transport below what it takes; whether all went.
    @discardableResult
    private func sendCiphertext() -> Bool {
        guard let below, session.output.write(to: below) else { return false }
        switch state {
        case .closing:
            end()
            below.close()
        case .open:
            if hasFinishedWriting { below.finishWriting() }
        case .connecting, .handshaking, .ended: break
        }
        return true
    }

    /// Never from inside the handler's call.
    private func tellOfRoom() {
        guard isWaitingForRoom, session.output.isEmpty, case .open = state else { return }
        isWaitingForRoom = false
        handler?.writable()
    }

    public override func finishWriting() {
        loop.assertOnLoop()
        guard case .open = state, !hasFinishedWriting else { return }
        hasFinishedWriting = true
        isWaitingForRoom = false
        session.finishWriting()
        sendCiphertext()
    }

    public override func close() {
        loop.assertOnLoop()
        switch state {
        case .connecting, .handshaking:
            end()
            below?.close()
        case .open:
            if !hasFinishedWriting { session.finishWriting() }
            state = .closing
            // What still comes is thrown away, so that a peer that writes before it reads gets to reading.
            below?.resumeReading()
            guard !sendCiphertext() else { return }
            timer = loop.schedule(after: .seconds(Self.closeDeadlineSeconds)) { [weak self] in self?.reset() }
        case .closing, .ended: break
        }
    }

    public override func reset() {
        loop.assertOnLoop()
        end()
        below?.reset()
    }

    /// Ends the stream for a fault of the peer, after the alert that OpenSSL has written about it.
    private func fail(_ error: TransportError) {
        guard isAlive else { return }
        failure = error
        end()
        guard let below else { return }
        if session.output.write(to: below) { below.close() } else { below.reset() }
    }

    private func end() {
        state = .ended
        cancelTimer()
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}

/// What the transport below calls. It keeps the TLS transport alive until `closed`.
private final class CiphertextHandler: ByteStreamHandler {
    private let transport: TLSTransport

    init(_ transport: TLSTransport) {
        self.transport = transport
    }

    override func connected(_ below: ByteTransport) { transport.belowConnected() }
    override func received(_ bytes: UnsafeRawBufferPointer) { transport.belowReceived(bytes) }
    override func writable() { transport.belowWritable() }
    override func peerFinished() { transport.belowFinished() }
    override func closed(_ error: TransportError?) { transport.belowClosed(error) }
}
