import Threads

/// The resolution of host names on separate threads, because the name service can block for a long time. The number of
/// threads is bounded for the whole process. Requests for the same name share one lookup. A lookup counts toward the
/// bound until its thread has returned, even if its requests were canceled.
///
/// `@unchecked Sendable`: every access to the stored state holds the lock.
final class NameLookups: @unchecked Sendable {
    typealias LookUp = @Sendable (_ host: String) -> Resolver.Answer

    /// A handle of a request, for `cancel`.
    struct Ticket: Sendable {
        fileprivate let host: String
        fileprivate let number: UInt64
    }

    private struct Request {
        let number: UInt64
        let deliver: @Sendable (Resolver.Answer) -> Void
    }

    /// Maximum number of simultaneous lookups, one thread each.
    static let threadsMax = 16
    /// The lookups of the process.
    static let shared = NameLookups { Resolver.lookUp(Endpoint(host: $0, port: 0)) }

    private let lookUp: LookUp
    private let lock = ThreadLock()
    /// Requests by host. Each host has one thread.
    private var running: [String: [Request]] = [:]
    private var lastNumber: UInt64 = 0

    init(_ lookUp: @escaping LookUp) {
        self.lookUp = lookUp
    }

    var threadCount: Int { lock.withLock { running.count } }

    /// Calls `deliver` with the addresses of `host`, each with port 0, or with the error. Unless the request is
    /// canceled, the call happens once, on any thread, possibly before this method returns.
    func find(_ host: String, _ deliver: @escaping @Sendable (Resolver.Answer) -> Void) -> Ticket {
        enum Step { case join, start, refuse }
        let (ticket, step) = lock.withLock { () -> (Ticket, Step) in
            lastNumber += 1
            let ticket = Ticket(host: host, number: lastNumber)
            let isRunning = running[host] != nil
            guard isRunning || running.count < Self.threadsMax else { return (ticket, .refuse) }
            running[host, default: []].append(Request(number: lastNumber, deliver: deliver))
            return (ticket, isRunning ? .join : .start)
        }
        switch step {
        case .join: break
        case .start: start(host)
        case .refuse: deliver(.failure(Self.busy(host)))
        }
        return ticket
    }

    /// Prevents the call of `deliver`, unless the lookup has ended. A lookup in progress continues.
    func cancel(_ ticket: Ticket) {
        // The closure is released outside the lock.
        _ = lock.withLock { () -> Request? in
            let index = running[ticket.host]?.firstIndex { $0.number == ticket.number }
            guard let index else { return nil }
            return running[ticket.host]?.remove(at: index)
        }
    }

    private func start(_ host: String) {
        do {
            try DetachedThread.start { [self] in finish(host, lookUp(host)) }
        } catch {
            finish(host, .failure(TransportError(error)))
        }
    }

    private func finish(_ host: String, _ answer: Resolver.Answer) {
        let requests = lock.withLock { running.removeValue(forKey: host) ?? [] }
        for request in requests { request.deliver(answer) }
    }

    private static func busy(_ host: String) -> TransportError {
        TransportError(
            .resolve,
            "cannot resolve \(host): \(threadsMax) lookups of other names wait for the name service; "
                + "check the name servers in /etc/resolv.conf")
    }
}
