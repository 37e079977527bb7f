import CLinux
import Glibc

/// A byte stream over TCP.
final class TCPTransport: ByteTransport {
    /// Time to find the name's addresses, and as long again to connect. Each address has an equal share of that and no
    /// less than `addressTimeoutSecondsMin`, so that many addresses take longer together: eight, the most, 16 s.
    static let connectTimeoutSeconds = 10
    static let addressTimeoutSecondsMin = 2
    /// Unacknowledged bytes older than this end the connection: the peer is gone.
    static let userTimeoutSeconds = 60
    /// After a close, how long the peer's last bytes are waited for, so that the kernel does not reset the stream.
    static let lingerSeconds = 2
    /// Reads of a closed stream's last bytes before the loop looks at others.
    private static let discardsPerTurnMax = 8

    private enum State {
        /// To: open, ended.
        case connecting
        /// To: lingering, ended.
        case open
        /// Closed by us, told so; the peer's end is awaited. To: ended.
        case lingering
        case ended
    }

    private let epoll: EpollLoop
    private var state = State.connecting
    private var descriptor: Int32 = -1
    private var watch: FileWatch?
    private var place = ""
    private var addresses: [SocketAddress] = []
    private var addressTimeoutSeconds = connectTimeoutSeconds
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

    func connect(to endpoint: Endpoint) {
        place = endpoint.description
        timer = loop.schedule(after: .seconds(Self.connectTimeoutSeconds)) { [self] in
            end(TransportError(.timedOut, "\(place): the name was not resolved within \(Self.connectTimeoutSeconds) s"))
        }
        loop.later { [self] in
            Resolver.resolve(endpoint, for: epoll) { [self] result in
                guard case .connecting = state else { return }
                switch result {
                case .success(let addresses):
                    self.addresses = addresses.reversed()
                    addressTimeoutSeconds = max(
                        Self.addressTimeoutSecondsMin, Self.connectTimeoutSeconds / addresses.count)
                    tryNextAddress(after: TransportError(.resolve, "\(place): no address"))
                case .failure(let error): end(error)
                }
            }
        }
    }

    private func tryNextAddress(after error: TransportError) {
        stopWatching()
        if let timer { loop.cancel(timer) }
        guard let address = addresses.popLast() else { return end(error) }
        timer = loop.schedule(after: .seconds(addressTimeoutSeconds)) { [self] in
            tryNextAddress(after: TransportError(.timedOut, "\(place): no connection in time"))
        }
        descriptor = socket(
            address.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return end(TransportError(errno: errno, place)) }
        setOptions()
        let status = address.withPointer { Glibc.connect(descriptor, $0, $1) }
        guard status == 0 || errno == EINPROGRESS else {
            return tryNextAddress(after: TransportError(errno: errno, place))
        }
        startWatching(for: EPOLLOUT)
    }

    private func finishConnecting() {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        guard code == 0 else { return tryNextAddress(after: TransportError(errno: code, place)) }
        addresses = []
        becomeOpen()
    }

    /// Takes over a connection that a listener has accepted; `handler` hears of it later in this turn.
    func adopt(_ accepted: Int32, from place: String) {
        descriptor = accepted
        self.place = place
        setOptions()
        startWatching(for: EPOLLIN)
        loop.later { [self] in
            guard case .connecting = state else { return }
            becomeOpen()
        }
    }

    private func becomeOpen() {
        if let timer { loop.cancel(timer) }
        timer = nil
        state = .open
        updateWatch()
        handler?.connected(self)
    }

    private func setOptions() {
        var one: Int32 = 1
        var timeout = Int32(Self.userTimeoutSeconds * 1000)
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout, size)
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, size)
    }

    private func startWatching(for events: EPOLL_EVENTS) {
        watch = epoll.watch(
            descriptor, for: events, action: { [self] events in ready(events) }, abandoned: { [self] in abandon() })
        if watch == nil { end(TransportError(errno: errno, place)) }
    }

    private func updateWatch() {
        guard let watch else { return }
        var events: UInt32 = 0
        if isReading && !peerIsFinished { events |= EPOLLIN.rawValue }
        if isWaitingForRoom { events |= EPOLLOUT.rawValue }
        epoll.change(watch, to: events)
    }

    private func stopWatching() {
        if let watch { epoll.end(watch) }
        watch = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private func ready(_ events: UInt32) {
        switch state {
        case .connecting: finishConnecting()
        case .lingering: discard()
        case .ended: break
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
        for _ in 0..<Self.discardsPerTurnMax {
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
            shutdown(descriptor, Int32(SHUT_WR))
            tellClosed(nil)
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
        if let timer { loop.cancel(timer) }
        timer = nil
        state = .ended
        stopWatching()
        tellClosed(error)
    }

    /// The loop has ended, and nobody can be told.
    private func abandon() {
        timer = nil
        state = .ended
        handler = nil
        stopWatching()
    }

    private func tellClosed(_ error: TransportError?) {
        loop.later { [self] in
            let handler = handler
            self.handler = nil
            handler?.closed(error)
        }
    }
}
