import PostgreSQL
import Registrations

/// A state machine for the steps of a transaction that reads rows, decides changes, and writes them. Pure.
struct PostgresTransactionMachine {
    enum State: Hashable {
        /// To: numbering, reading.
        case idle
        /// The numbering of apps without a number. To: reading, numbering (a repeat), ended.
        case numbering
        /// The wait for the locked rows. To: writing, numbering or reading (a repeat), ended.
        case reading
        /// The wait for the commit of the written rows. To: numbering or reading (a repeat), ended.
        case writing
        case ended
    }

    /// The decision on the rows that were read.
    enum Finding: Hashable {
        /// A transaction that lacks apps that it must include.
        case outdated
        case unchanged
        case changed
        /// Rows from which the changes cannot be decided.
        case impossible(StoreFault)
    }

    enum Action: Hashable {
        /// Sends the statement that numbers the apps. `numbered` or `failed` follows.
        case number
        /// Begins the transaction and reads. `found` or `failed` follows.
        case read
        /// Writes and commits. `committed` or `failed` follows.
        case write
        /// Rolls the transaction back. The next actions do not wait for the server's answer.
        case rollBack
        case complete
        case fail(StoreFault)
    }

    private static let changedApps = StoreFault(
        .unreachable,
        "cannot use the registration store: new apps appeared even during the last repeat of a transaction; wait for "
            + "the next attempt")

    private(set) var state = State.idle
    private var repeats = PostgresRepeats()

    /// Starts or repeats the transaction.
    ///
    /// - Parameter hasNewApps: Whether apps of the transaction have no known number.
    mutating func start(hasNewApps: Bool) -> [Action] {
        state = hasNewApps ? .numbering : .reading
        return hasNewApps ? [.number] : [.read]
    }

    mutating func numbered() -> [Action] {
        guard state == .numbering else { return [] }
        state = .reading
        return [.read]
    }

    /// Handles the finding from the rows that the transaction has read.
    ///
    /// - Parameter hasNewApps: Whether apps of the transaction still have no known number.
    mutating func found(_ finding: Finding, hasNewApps: Bool) -> [Action] {
        guard state == .reading else { return [] }
        switch finding {
        case .outdated:
            guard repeats.next() else { return [.rollBack] + end(.fail(Self.changedApps)) }
            return [.rollBack] + start(hasNewApps: hasNewApps)
        case .unchanged: return [.rollBack] + end(.complete)
        case .impossible(let fault): return [.rollBack] + end(.fail(fault))
        case .changed:
            state = .writing
            return [.write]
        }
    }

    mutating func committed() -> [Action] {
        state == .writing ? end(.complete) : []
    }

    /// Handles the failure of the transaction, or of the statement that numbers apps.
    mutating func failed(_ error: PostgresError, hasNewApps: Bool) -> [Action] {
        switch state {
        case .idle, .ended: return []
        case .numbering, .reading, .writing:
            return repeats.repeats(after: error) ? start(hasNewApps: hasNewApps) : end(.fail(StoreFault(error)))
        }
    }

    private mutating func end(_ action: Action) -> [Action] {
        state = .ended
        return [action]
    }
}
