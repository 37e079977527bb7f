import CLinux
import Glibc

/// A byte stream over TCP.
final class TCPTransport: ByteTransport {
    /// The longest time for which a closed stream waits for the peer's close. If the descriptor were closed earlier,
    /// the peer's last bytes would make the kernel reset the stream.
    static let lingerSeconds = 2
    /// The minimum age at which a stream's address counts as silent if this side closes the stream before a byte has
    /// arrived.
    static let silenceSecondsMin: Int64 = 2
    /// Maximum number of reads of a closed stream's last bytes per event, before the loop handles other sockets.
    private static let discardsPerEventMax = 8

    /// The state of the stream. Each case lists its possible next states after "To:".
    private enum State {
        /// A stream that is not open yet. To: open, ended.
        case connecting
        /// An open stream. To: lingering, ended.
        case open
        /// A stream that this side closed and reported as closed, and that waits for the peer's close. To: ended.
        case lingering
        case ended
    }

    private let epoll: EpollLoop
    private var state = State.connecting
    private(set) var descriptor: Int32 = -1
    private var watch: DescriptorRegistration?
    private var place = ""
    /// The dialer that opens the connection. The reference is weak, because the loop keeps the dialer alive, and the
    /// dialer keeps this object alive.
    private weak var dialer: TCPDialer?
    /// The endpoint and address of an outgoing connection, and the time at which the connection opened. nil before this
    /// time, and for an accepted connection.
    private var chosen: (endpoint: Endpoint, address: SocketAddress, since: MonotonicTime)?
    private var hasReceived = false
    private var timer: TimerToken?
    private var isReading = true
    private var isWaitingForRoom = false
    private var peerIsFinished = false

    init(loop: EpollLoop, handler: ByteStreamHandler?) {
        epoll = loop
        super.init(loop: loop, handler: handler)
    }

    deinit {
        precondition(descriptor < 0, "a byte stream was dropped without close() or reset()")
    }

    func connect(to endpoint: Endpoint, options: ConnectOptions) {
        place = endpoint.description
        let dialer = TCPDialer(
            loop: epoll, endpoint: endpoint, options: options,
            completion: { [self] result in
                switch result {
                case .success(let connection):
                    descriptor = connection.descriptor
                    guard startWatching() else { return }
                    chosen = (endpoint, connection.address, loop.now.monotonic)
                    becomeOpen()
                case .failure(let error): end(error)
                }
            }, abandoned: { [self] in abandon() })
        self.dialer = dialer
    }

    /// Adopts a connection that a listener has accepted, and calls `handler.connected` after the running code has
    /// returned. If the loop cannot watch the descriptor, calls `handler.closed` instead.
    func adopt(_ accepted: Int32, from place: String) {
        descriptor = accepted
        self.place = place
        ConnectOptions().apply(to: accepted)
        guard startWatching() else { return }
        loop.later { [self] in
            guard case .connecting = state else { return }
            becomeOpen()
        }
    }

    private func becomeOpen() {
        state = .open
        updateWatch()
        handler?.connected(self)
    }

    /// Watches the descriptor. Returns false if the loop cannot watch the descriptor. The stream has then ended.
    private func startWatching() -> Bool {
        watch = epoll.watch(
            descriptor, for: EPOLLIN, action: { [self] events in ready(events) }, abandoned: { [self] in abandon() })
        if watch == nil { end(TransportError(errno: errno, place)) }
        return watch != nil
    }

    private func updateWatch() {
        guard let watch else { return }
        var events: UInt32 = 0
        if isReading && !peerIsFinished { events |= EPOLLIN.rawValue }
        if isWaitingForRoom { events |= EPOLLOUT.rawValue }
        epoll.change(watch, to: events)
    }

    private func stopWatching() {
        dialer?.cancel()
        if let watch { epoll.end(watch) }
        watch = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private func recordSilence(endedByPeer: Bool) {
        guard !hasReceived, let chosen else { return }
        let now = loop.now.monotonic
        guard endedByPeer || chosen.since.duration(to: now) >= .seconds(Self.silenceSecondsMin) else { return }
        epoll.addressMemory.wasSilent(chosen.address, of: chosen.endpoint, now)
    }

    private func ready(_ events: UInt32) {
        switch state {
        case .lingering: discard()
        case .connecting, .ended: break
        case .open:
            if events & EPOLLOUT.rawValue != 0, isWaitingForRoom {
                isWaitingForRoom = false
                updateWatch()
                handler?.writable()
            }
            guard case .open = state else { return }
            if events & EPOLLIN.rawValue != 0, isReading {
                receive()
            } else if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
                fail()
            }
        }
    }

    private func receive() {
        let count = recv(descriptor, epoll.readBuffer.baseAddress, epoll.readBuffer.count, 0)
        if count > 0 {
            hasReceived = true
            handler?.received(UnsafeRawBufferPointer(rebasing: epoll.readBuffer[..<count]))
        } else if count == 0 {
            peerIsFinished = true
            updateWatch()
            handler?.peerFinished()
        } else if errno != EAGAIN && errno != EINTR {
            end(TransportError(errno: errno, place))
        }
    }

    private func fail() {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        end(code == 0 ? TransportError(.reset, "\(place): closed by the peer") : TransportError(errno: code, place))
    }

    private func discard() {
        for _ in 0..<Self.discardsPerEventMax {
            let count = recv(descriptor, epoll.readBuffer.baseAddress, epoll.readBuffer.count, 0)
            if count > 0 { continue }
            if count == 0 || errno != EAGAIN { finishLingering() }
            return
        }
    }

    override var peerAddress: [UInt8] {
        descriptor < 0 ? [] : SocketAddress.peer(of: descriptor)?.hostBytes ?? []
    }

    override func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        loop.assertOnLoop()
        guard case .open = state, !isWaitingForRoom, !bytes.isEmpty else { return 0 }
        let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if count < 0, errno != EAGAIN, errno != EINTR {
            end(TransportError(errno: errno, place))
            return 0
        }
        let taken = max(count, 0)
        if taken < bytes.count {
            isWaitingForRoom = true
            updateWatch()
        }
        return taken
    }

    override func pauseReading() {
        loop.assertOnLoop()
        isReading = false
        if case .open = state { updateWatch() }
    }

    override func resumeReading() {
        loop.assertOnLoop()
        isReading = true
        if case .open = state { updateWatch() }
    }

    override func finishWriting() {
        loop.assertOnLoop()
        guard case .open = state else { return }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    override func close() {
        loop.assertOnLoop()
        switch state {
        case .connecting: end(nil)
        case .open:
            recordSilence(endedByPeer: peerIsFinished)
            shutdown(descriptor, Int32(SHUT_WR))
            notifyClosed(nil)
            guard !peerIsFinished else {
                state = .ended
                return stopWatching()
            }
            state = .lingering
            isReading = true
            isWaitingForRoom = false
            updateWatch()
            timer = loop.schedule(after: .seconds(Self.lingerSeconds)) { [self] in finishLingering() }
        case .lingering, .ended: break
        }
    }

    private func finishLingering() {
        guard case .lingering = state else { return }
        if let timer { loop.cancel(timer) }
        timer = nil
        state = .ended
        stopWatching()
    }

    override func reset() {
        loop.assertOnLoop()
        if descriptor >= 0 {
            var abort = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abort, socklen_t(MemoryLayout<linger>.size))
        }
        switch state {
        case .connecting, .open: end(nil)
        case .lingering: finishLingering()
        case .ended: break
        }
    }

    private func end(_ error: TransportError?) {
        recordSilence(endedByPeer: error != nil || peerIsFinished)
        if let timer { loop.cancel(timer) }
        timer = nil
        state = .ended
        stopWatching()
        notifyClosed(error)
    }

    /// Handles the end of the loop, without calling the handler.
    private func abandon() {
        timer = nil
        state = .ended
        handler = nil
        stopWatching()
    }

    private func notifyClosed(_ error: TransportError?) {
        loop.later { [self] in
            let handler = handler
            self.handler = nil
            handler?.closed(error)
        }
    }
}
