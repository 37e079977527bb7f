/// The outcome of a command.
public enum RegistrationReply: String, CaseIterable, Sendable, Hashable {
    /// The registration or the suspicion was stored.
    case stored
    /// The store already had this state.
    case unchanged
    /// The registration was stored, and the token belonged to another user before.
    case moved
    /// A newer registration has precedence.
    case superseded
    /// Of a registration: a later end has precedence. Of the other commands: at least one registration ended.
    case ended
    /// The command concerns no registration.
    case notFound = "not_found"
}
