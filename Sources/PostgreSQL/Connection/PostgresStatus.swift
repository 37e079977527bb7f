/// The state of a connection, for its owner.
public enum PostgresStatus: Sendable, Hashable {
    /// Not started.
    case idle
    case connecting
    /// Accepts statements.
    case ready(PostgresHost)
    /// No host accepted a connection, or it was lost. The next attempt follows.
    case waiting(PostgresError)
    /// Closes after the last statement.
    case closing
    case closed
}

extension PostgresStatus {
    init(_ state: PostgresConnectionMachine.State) {
        switch state {
        case .idle: self = .idle
        case .resolving, .connecting, .preparing: self = .connecting
        case .ready(let target, _): self = .ready(target.host)
        case .waiting(let error): self = .waiting(error)
        case .closing: self = .closing
        case .closed: self = .closed
        }
    }
}
