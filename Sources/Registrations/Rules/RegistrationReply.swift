/// The reply to a valid command.
public enum RegistrationReply: String, CaseIterable, Sendable, Hashable {
    /// A stored registration, or a counted refusal.
    case stored
    /// A command without a change. The store already had this state, or the refusal does not count.
    case unchanged
    /// A stored registration of a token that belonged to another user before.
    case moved
    /// A command over which another registration has precedence, usually because the registration is newer.
    case superseded
    /// For a `register`, the registration has expired, or an end at or after its time has precedence. For another
    /// command, at least one registration ended.
    case ended
    /// A command that concerns no registration in the store.
    case notFound = "not_found"
}
