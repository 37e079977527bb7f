/// The state of a connection, for its owner.
public enum PostgresStatus: Sendable, Hashable {
    /// A connection before `start`.
    case idle
    case connecting
    /// A connection that accepts statements.
    case ready(PostgresHost)
    /// The delay after a failed round of attempts, or after the loss of the connection. The next round follows.
    case waiting(PostgresError)
    /// A connection that closes once no statement and no transaction remains, or at the deadline.
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
