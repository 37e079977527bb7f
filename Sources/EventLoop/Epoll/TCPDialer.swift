import CLinux
import Glibc

/// A dialer that opens one TCP connection. It resolves the name and races the addresses, as `ConnectRace` and
/// `AddressMemory` decide. The loop keeps a dialer alive until its outcome is known.
final class TCPDialer {
    struct Connection {
        /// The socket, which the receiver owns.
        var descriptor: Int32
        var address: SocketAddress
    }

    private struct Attempt {
        let descriptor: Int32
        let watch: DescriptorRegistration
    }

    private let loop: EpollLoop
    private let endpoint: Endpoint
    private let options: ConnectOptions
    /// The receiver of the outcome; nil once the outcome is known or the dialer is canceled.
    private var completion: ((Result<Connection, TransportError>) -> Void)?
    private var abandoned: (() -> Void)?
    private var lookup: EpollLoop.NameRequest?
    private var timer: TimerToken?
    private var addresses: [SocketAddress] = []
    private var race: ConnectRace?
    private var attempts: [Int: Attempt] = [:]
    private var lastError: TransportError

    /// Creates a dialer, which starts after the running code has returned.
    ///
    /// - Parameters:
    ///   - completion: called once on the loop, but never from inside `init` or after `cancel`.
    ///   - abandoned: called instead if the loop ends during a connect attempt. If the loop ends before the first
    ///     attempt, neither function is called.
    init(
        loop: EpollLoop, endpoint: Endpoint, options: ConnectOptions,
        completion: @escaping (Result<Connection, TransportError>) -> Void, abandoned: @escaping () -> Void
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.options = options
        self.completion = completion
        self.abandoned = abandoned
        lastError = TransportError(.resolve, "\(endpoint): no address")
        loop.later { [self] in resolve() }
    }

    deinit {
        precondition(attempts.isEmpty, "a dialer was dropped without cancel()")
    }

    /// Stops the lookup and closes all attempts. Neither `completion` nor `abandoned` is called.
    func cancel() {
        completion = nil
        abandoned = nil
        if let lookup { loop.stopResolving(lookup) }
        lookup = nil
        stopTimer()
        for index in attempts.keys { close(index) }
    }

    private func resolve() {
        guard completion != nil else { return }
        if let addresses = Resolver.numeric(endpoint) { return begin(addresses) }
        let seconds = options.resolveSecondsMax
        timer = loop.schedule(after: .seconds(seconds)) { [self] in
            finish(.failure(TransportError(.timedOut, "\(endpoint): the name was not resolved within \(seconds) s")))
        }
        lookup = loop.resolve(endpoint.host) { [self] answer in
            lookup = nil
            switch answer {
            case .success(let addresses): begin(addresses.map { $0.with(port: endpoint.port) })
            case .failure(let error): finish(.failure(error))
            }
        }
    }

    private func begin(_ found: [SocketAddress]) {
        stopTimer()
        var found = found
        if let source = options.sourceAddress {
            found = source.reachable(found)
            lastError = TransportError(
                .unreachable, "\(endpoint): the host has no address of the IP version of the source address \(source)")
        }
        addresses = loop.addressMemory.ordered(found, of: endpoint, loop.now.monotonic)
        guard !addresses.isEmpty else { return finish(.failure(lastError)) }
        var race = ConnectRace(addresses: addresses.count, limit: .seconds(options.connectSecondsMax))
        let actions = race.start(loop.now.monotonic)
        self.race = race
        perform(actions)
    }

    /// Performs actions. Attempts that fail immediately are further events of the race.
    private func perform(_ first: [ConnectRace.Action]) {
        var actions = first
        while !actions.isEmpty {
            var failed: [Int] = []
            for action in actions {
                switch action {
                case .connect(let index): if !connect(index) { failed.append(index) }
                case .cancel(let index): close(index)
                case .arm(let time): arm(time)
                case .finish(let outcome): raceEnded(outcome)
                }
            }
            actions = failed.flatMap { race?.failed($0, loop.now.monotonic) ?? [] }
        }
    }

    private func arm(_ time: MonotonicTime) {
        stopTimer()
        timer = loop.schedule(at: time) { [self] in
            timer = nil
            perform(race?.timerFired(loop.now.monotonic) ?? [])
        }
    }

    private func stopTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// Starts an attempt. Returns false if the attempt failed immediately.
    private func connect(_ index: Int) -> Bool {
        let address = addresses[index]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else {
            lastError = error(errno)
            return false
        }
        options.apply(to: descriptor)
        if let source = options.sourceAddress {
            let code = source.bind(descriptor)
            guard code == 0 else {
                Glibc.close(descriptor)
                lastError = TransportError(
                    .unreachable, "\(endpoint): cannot connect from \(source): \(errorText(code))", underlying: code)
                return false
            }
        }
        let status = address.withPointer { Glibc.connect(descriptor, $0, $1) }
        let watch =
            status == 0 || errno == EINPROGRESS
            ? loop.watch(
                descriptor, for: EPOLLOUT, action: { [self] _ in ended(index) }, abandoned: { [self] in abandon() })
            : nil
        guard let watch else {
            lastError = error(errno)
            Glibc.close(descriptor)
            return false
        }
        attempts[index] = Attempt(descriptor: descriptor, watch: watch)
        return true
    }

    /// Reads the outcome of an attempt from the kernel.
    private func ended(_ index: Int) {
        guard let attempt = attempts[index] else { return }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(attempt.descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        guard code == 0 else {
            lastError = error(code)
            close(index)
            return perform(race?.failed(index, loop.now.monotonic) ?? [])
        }
        perform(race?.connected(index) ?? [])
    }

    private func raceEnded(_ outcome: ConnectRace.Outcome) {
        switch outcome {
        case .connected(let index):
            guard let attempt = attempts.removeValue(forKey: index) else { return }
            loop.end(attempt.watch)
            let address = addresses[index]
            loop.addressMemory.connected(to: address, wasFirst: index == 0, of: endpoint, loop.now.monotonic)
            finish(.success(Connection(descriptor: attempt.descriptor, address: address)))
        case .failed:
            finish(.failure(lastError.adding(addressCount: race?.triedCount ?? 0)))
        case .timedOut:
            let error = TransportError(.timedOut, "\(endpoint): no connection within \(options.connectSecondsMax) s")
            finish(.failure(error.adding(addressCount: race?.triedCount ?? 0)))
        }
    }

    private func finish(_ result: Result<Connection, TransportError>) {
        let completion = completion
        cancel()
        completion?(result)
    }

    /// Handles the end of the loop.
    private func abandon() {
        let abandoned = abandoned
        cancel()
        abandoned?()
    }

    private func close(_ index: Int) {
        guard let attempt = attempts.removeValue(forKey: index) else { return }
        loop.end(attempt.watch)
        Glibc.close(attempt.descriptor)
    }

    private func error(_ code: Int32) -> TransportError { TransportError(errno: code, endpoint.description) }
}

extension TransportError {
    /// Returns the error with the number of attempted addresses in its message, if there are several.
    fileprivate func adding(addressCount count: Int) -> TransportError {
        guard count > 1 else { return self }
        return TransportError(code, "\(message) (\(count) addresses attempted)", underlying: underlying)
    }
}
