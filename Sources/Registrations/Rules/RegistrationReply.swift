/// The reply to a valid command.
public enum RegistrationReply: String, CaseIterable, Sendable, Hashable {
    /// A stored registration, or a counted refusal.
    case stored
    /// A command whose effect the store already had, or a refusal that does not count. The time of a tombstone may
    /// change.
    case unchanged
    /// A stored registration of a token that belonged to another user before.
    case moved
    /// A command over which another registration has precedence, usually because that registration is newer. Also a
    /// registration beyond a limit.
    case superseded
    /// A `register` whose registration has expired, or over which an end at or after its time has precedence.
    /// Otherwise, a command that ended at least one registration, or a restored end that has an effect.
    case ended
    /// A command that concerns no registration in the store.
    case notFound = "not_found"
}
