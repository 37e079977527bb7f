/// The reply to a valid command.
public enum RegistrationReply: String, CaseIterable, Sendable, Hashable {
    /// The registration was stored, or the refusal was counted.
    case stored
    /// The store already had this state, or the refusal does not count.
    case unchanged
    /// The registration was stored. The token belonged to another user before.
    case moved
    /// Another registration has precedence, usually because it is newer.
    case superseded
    /// For a `register`, the registration has expired, or an end at or after its time has precedence. For another
    /// command, at least one registration ended.
    case ended
    /// The store has no registration that the command concerns.
    case notFound = "not_found"
}
