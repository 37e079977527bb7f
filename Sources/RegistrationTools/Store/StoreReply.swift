import Registrations

/// The result of one call to a store, for one waiting task. Loop-bound.
final class StoreReply<Value: Sendable> {
    private enum State {
        /// To: `waiting`, `completed`.
        case pending
        /// To: `taken`.
        case waiting(CheckedContinuation<Result<Value, StoreFault>, Never>)
        /// To: `taken`.
        case completed(Result<Value, StoreFault>)
        case taken
    }

    private var state = State.pending

    func complete(_ result: Result<Value, StoreFault>) {
        switch state {
        case .pending: state = .completed(result)
        case .waiting(let continuation):
            state = .taken
            continuation.resume(returning: result)
        case .completed, .taken: preconditionFailure("a call to a store has completed twice")
        }
    }

    /// Waits for the result. Call this function once.
    func value() async throws(StoreFault) -> Value {
        try await withCheckedContinuation { continuation in
            switch state {
            case .pending: state = .waiting(continuation)
            case .completed(let result):
                state = .taken
                continuation.resume(returning: result)
            case .waiting, .taken: preconditionFailure("a call to a store has two waiting tasks")
            }
        }.get()
    }
}
