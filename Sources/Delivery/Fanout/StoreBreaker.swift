import EventLoop
import Registrations

/// The breaker of the store. While the breaker is open, the lane holds requests to users and stale children. Other
/// requests continue.
///
/// Pure. Its methods have the time and the events as parameters. One lookup at a time probes the open breaker. A new
/// connection makes the probe due at once.
struct StoreBreaker {
    /// The time without a connection after which the breaker opens. Until then, searches wait.
    static let connectSecondsMax: Int64 = 3
    /// The number of consecutive lookups with the fault `unreachable` after which the breaker opens. Any other fault
    /// opens the breaker at once.
    static let failuresMax = 3
    static let firstProbeSeconds: Int64 = 1
    static let probeSecondsMax: Int64 = 10

    struct Opening: Sendable, Hashable {
        fileprivate(set) var cause: HoldReason
        let since: MonotonicTime
        fileprivate var isConnected: Bool
        fileprivate var probe: Probe
        fileprivate var waitSeconds = StoreBreaker.firstProbeSeconds

        fileprivate enum Probe: Hashable {
            case due(MonotonicTime)
            case inFlight
        }
    }

    enum Change: Sendable, Hashable {
        case opened(HoldReason)
        case closed(Opening)
    }

    private enum State {
        /// A closed breaker without a connection. To: connected, open.
        case connecting(since: MonotonicTime, Failures, StoreFault?)
        /// A closed breaker with a connection. To: connecting, open.
        case connected(Failures)
        /// To: connected, connecting.
        case open(Opening)
    }

    /// The failed lookups since the last completed lookup. Lookups that fail at the same time count once, since a lost
    /// connection fails all lookups in flight.
    private struct Failures {
        var count = 0
        var lastAt: MonotonicTime?

        mutating func add(_ now: MonotonicTime) {
            if lastAt != now { count += 1 }
            lastAt = now
        }
    }

    private static let noConnection = StoreFault(
        .unreachable, "The store of registrations does not accept a connection: check registrations.store.")

    private var state: State

    init(_ now: MonotonicTime) { state = .connecting(since: now, Failures(), nil) }

    /// The reason for which requests are held; nil while the breaker is closed.
    var holdReason: HoldReason? { opening?.cause }

    /// The current opening; nil while the breaker is closed.
    var opening: Opening? {
        if case .open(let opening) = state { opening } else { nil }
    }

    /// Whether lookups may be sent, because the breaker is closed and the reader is ready.
    var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// The time at which ``timeout(_:)`` or a probe is due; nil if neither is.
    var deadline: MonotonicTime? {
        switch state {
        case .connecting(let since, _, _): since + .seconds(Self.connectSecondsMax)
        case .connected: nil
        case .open(let opening):
            if opening.isConnected, case .due(let time) = opening.probe { time } else { nil }
        }
    }

    /// Opens the breaker if the reader has had no connection for ``connectSecondsMax``.
    mutating func timeout(_ now: MonotonicTime) -> Change? {
        guard case .connecting(let since, _, let fault) = state, since + .seconds(Self.connectSecondsMax) <= now else {
            return nil
        }
        return open(fault ?? Self.noConnection, isConnected: false, now)
    }

    /// Returns whether a probe is due, and begins it.
    mutating func beginProbe(_ now: MonotonicTime) -> Bool {
        guard case .open(var opening) = state, opening.isConnected, case .due(let time) = opening.probe, time <= now
        else { return false }
        opening.probe = .inFlight
        state = .open(opening)
        return true
    }

    /// Makes the next probe due, unless a probe is in flight. Without a connection, the next connection does so.
    mutating func probeNow(_ now: MonotonicTime) {
        guard case .open(var opening) = state, case .due(let time) = opening.probe, now < time else { return }
        opening.probe = .due(now)
        state = .open(opening)
    }

    /// Records that the reader is ready.
    mutating func connected(_ now: MonotonicTime) {
        switch state {
        case .connecting(_, let failures, _): state = .connected(failures)
        case .connected: break
        case .open(var opening):
            opening.isConnected = true
            if opening.probe != .inFlight { opening.probe = .due(now) }
            state = .open(opening)
        }
    }

    /// Records that the reader is not ready. A fault other than `unreachable` opens the breaker.
    mutating func disconnected(_ fault: StoreFault, _ now: MonotonicTime) -> Change? {
        switch state {
        case .open(var opening):
            opening.isConnected = false
            opening.cause = HoldReason(fault)
            state = .open(opening)
            return nil
        case .connecting(let since, let failures, _) where fault.code == .unreachable:
            state = .connecting(since: since, failures, fault)
            return nil
        case .connected(let failures) where fault.code == .unreachable:
            state = .connecting(since: now, failures, fault)
            return nil
        case .connecting, .connected:
            return open(fault, isConnected: false, now)
        }
    }

    mutating func lookupCompleted() {
        switch state {
        case .connecting(let since, _, let fault): state = .connecting(since: since, Failures(), fault)
        case .connected: state = .connected(Failures())
        case .open: break
        }
    }

    mutating func lookupFailed(_ fault: StoreFault, _ now: MonotonicTime) -> Change? {
        let isConnected: Bool
        var failures: Failures
        switch state {
        case .open: return nil
        case .connecting(let since, let earlier, _):
            (failures, isConnected) = (earlier, false)
            failures.add(now)
            state = .connecting(since: since, failures, fault)
        case .connected(let earlier):
            (failures, isConnected) = (earlier, true)
            failures.add(now)
            state = .connected(failures)
        }
        guard fault.code != .unreachable || failures.count >= Self.failuresMax else { return nil }
        return open(fault, isConnected: isConnected, now)
    }

    mutating func probeSucceeded(_ now: MonotonicTime) -> Change? {
        guard case .open(let opening) = state else { return nil }
        state = opening.isConnected ? .connected(Failures()) : .connecting(since: now, Failures(), nil)
        return .closed(opening)
    }

    /// Schedules the next probe. Doubles the wait, up to ``probeSecondsMax``.
    mutating func probeFailed(_ fault: StoreFault, _ now: MonotonicTime) {
        guard case .open(var opening) = state else { return }
        opening.cause = HoldReason(fault)
        opening.probe = .due(now + .seconds(opening.waitSeconds))
        opening.waitSeconds = min(opening.waitSeconds * 2, Self.probeSecondsMax)
        state = .open(opening)
    }

    private mutating func open(_ fault: StoreFault, isConnected: Bool, _ now: MonotonicTime) -> Change {
        let cause = HoldReason(fault)
        state = .open(
            Opening(
                cause: cause, since: now, isConnected: isConnected, probe: .due(now + .seconds(Self.firstProbeSeconds)))
        )
        return .opened(cause)
    }
}

extension HoldReason {
    init(_ fault: StoreFault) { self.init("store-\(fault.code.rawValue)", fault.sentence) }
}
