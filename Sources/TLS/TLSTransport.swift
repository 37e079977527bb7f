public import EventLoop

/// TLS over any byte transport, as client or server. `connected` is called after the handshake. If the handshake
/// fails, `closed` receives the error.
///
/// A write becomes records of up to 16 KiB and, below 128 KiB, one write to the transport below. Callers should
/// therefore write the output of an event-loop iteration in one call. Certificates are verified before the handler
/// sends or receives any byte.
public final class TLSTransport: ByteTransport {
    /// Maximum time of a server's handshake, from the opening of the connection below. For a client, see the
    /// connector's options.
    public static let handshakeTimeoutSeconds = 10
    /// Maximum time for which `close` waits until the transport below has accepted the pending output.
    public static let closeDeadlineSeconds = 5
    /// Maximum plaintext passed to one call of `received`, which is that of two full records or many small ones.
    private static let plaintextBytesMax = 2 * TLSSession.recordBytesMax

    private enum State {
        /// A stream whose transport below is not open yet. Next: `handshaking` or `ended`.
        case connecting
        /// A stream during the handshake. Next: `open` or `ended`.
        case handshaking
        /// An open stream. Next: `closing` or `ended`.
        case open
        /// A stream with pending ciphertext after `close`. Next: `ended`.
        case closing
        /// A stream whose transport below is closing. The transport's `closed` is the last event.
        case ended
    }

    private let session: TLSSession
    private let handshakeSecondsMax: Int
    private var state = State.connecting
    /// The transport below, set before the first event.
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
    /// Ciphertext that has arrived and is not decrypted yet, because reading is paused. The backlog contains at
    /// most one read of the transport below.
    private var backlog: [UInt8] = []
    private let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: plaintextBytesMax, alignment: 16)

    private init(loop: EventLoop, session: TLSSession, handshakeSecondsMax: Int, handler: ByteStreamHandler?) {
        self.session = session
        self.handshakeSecondsMax = handshakeSecondsMax
        super.init(loop: loop, handler: handler)
    }

    deinit { plaintext.deallocate() }

    /// Opens a connection, and starts TLS as a client.
    ///
    /// - Throws: `tls` if `name` is not a valid server name, or `resources`.
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

    /// Starts TLS as a server on an accepted connection. Call this function from the closure passed to `listen`.
    ///
    /// - Parameters:
    ///   - handler: nil if the handler is set later, before the closure returns.
    ///   - admits: decides about a client's certificate, given in DER, if the context accepts any certificate; nil
    ///     accepts all. If the function returns false, the certificate is refused as revoked. Called during the
    ///     handshake.
    /// - Throws: `resources`. The connection was then reset.
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

    /// The negotiated ALPN name; nil if there is none.
    public var applicationProtocol: String? { session.applicationProtocol }

    public var version: TLSVersion? { session.version }

    public override var peerAddress: [UInt8] { below?.peerAddress ?? [] }

    /// The peer's certificate in DER; nil if the peer presented none. The certificate may be unverified
    /// (``hasVerifiedPeerCertificate``).
    public var peerCertificate: [UInt8]? { session.peerCertificate }

    /// Whether the peer presented a valid certificate. Always true on a connected client.
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
        notifyWritable()
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

    /// Continues the handshake and delivers plaintext, until `bytes` are consumed or the handler pauses reading.
    private func pump(_ bytes: UnsafeRawBufferPointer) {
        isPumping = true
        let left = session.withInput(bytes, hasEnded: hasInputEnded) {
            if case .handshaking = state { continueHandshake() }
            while isReading, !hasPeerFinished, case .open = state, deliver() {}
        }
        isPumping = false
        // Bytes after close_notify are ignored (RFC 8446, 6.1).
        if left > 0, !hasPeerFinished, isAlive { backlog.append(contentsOf: bytes.suffix(left)) }
        sendCiphertext()
        notifyWritable()
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

    /// Passes one buffer of plaintext to the handler. Also reports the peer's close_notify, and closes the stream after
    /// an error. Returns whether more plaintext may follow.
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
        // Deliver the data in OpenSSL and in the backlog first, but not within the handler's call. Resume reading
        // below only if the handler has not paused again. Otherwise, the backlog would grow with each pause.
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

    /// Writes pending ciphertext to the transport below. Once all ciphertext is accepted, completes a pending `close`
    /// or `finishWriting`. Returns whether all ciphertext was accepted.
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

    /// Calls the handler's `writable` if a write was incomplete and the output is now empty. Never called within the
    /// handler's own calls of this transport.
    private func notifyWritable() {
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
            // Read and discard further input. Otherwise, a peer that reads only after it has finished writing would
            // never read.
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

    /// Closes the stream because of an error, after sending OpenSSL's alert. Resets the stream if the transport below
    /// does not accept the alert.
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

/// The handler of the transport below. It retains the TLS transport until `closed`.
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
