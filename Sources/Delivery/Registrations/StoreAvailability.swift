import EventLoop
import Registrations

/// The availability of the store, according to the reports of its writer and the outcomes of its work. Pure.
struct StoreAvailability {
    /// The delay after a failure until the store accepts work again, if the writer remains ready. Each further failure
    /// doubles the delay, up to `retryMillisecondsMax`.
    static let retryMilliseconds: Int64 = 1000
    static let retryMillisecondsMax: Int64 = 30_000

    private enum State {
        /// A writer that has not yet reported whether it is ready. To: available, disconnected, ended.
        case starting
        /// To: disconnected, failing, ended.
        case available
        /// A writer that is not ready. To: available, ended.
        case disconnected(StoreFault)
        /// A ready writer whose work failed. To: trying, available, disconnected, ended.
        case failing(StoreFault, retryAt: MonotonicTime, delay: Int64)
        /// A test whether the fault lasts, by the next work. To: available, failing, disconnected, ended.
        case trying(StoreFault, delay: Int64)
        /// The end of the consumer.
        case ended
    }

    private var state = State.starting

    var acceptsWork: Bool {
        switch state {
        case .available, .trying: true
        case .starting, .disconnected, .failing, .ended: false
        }
    }

    /// Whether the next work shows whether a fault lasts.
    var isTrying: Bool {
        if case .trying = state { true } else { false }
    }

    /// The fault that prevents changes; nil without a fault. The fault remains while new work shows whether it lasts.
    var fault: StoreFault? {
        switch state {
        case .starting, .available, .ended: nil
        case .disconnected(let fault), .failing(let fault, _, _), .trying(let fault, _): fault
        }
    }

    /// The time at which the store accepts work again after a failure; nil if no such time is set.
    var retryAt: MonotonicTime? {
        if case .failing(_, let retryAt, _) = state { retryAt } else { nil }
    }

    /// Handles a report of the writer. `fault` is nil if the writer is ready.
    mutating func writerChanged(_ fault: StoreFault?) {
        if case .ended = state { return }
        state = fault.map { .disconnected($0) } ?? .available
    }

    /// Handles the end of work that the store performed.
    mutating func succeeded() {
        // Work may complete after the writer has reported a fault.
        if case .trying = state { state = .available }
    }

    /// Handles the failure of work for a reason other than its values.
    mutating func failed(_ fault: StoreFault, now: MonotonicTime) {
        let delay: Int64
        switch state {
        // The writer reports when it is ready.
        case .starting, .disconnected, .ended: return
        // Other work has already failed.
        case .failing: return
        case .available: delay = Self.retryMilliseconds
        case .trying(_, let last): delay = min(last * 2, Self.retryMillisecondsMax)
        }
        state = .failing(fault, retryAt: now + .milliseconds(delay), delay: delay)
    }

    /// Accepts work again if `retryAt` has passed.
    mutating func retry(now: MonotonicTime) {
        guard case .failing(let fault, let retryAt, let delay) = state, retryAt <= now else { return }
        state = .trying(fault, delay: delay)
    }

    /// Accepts no further work.
    mutating func end() { state = .ended }
}
