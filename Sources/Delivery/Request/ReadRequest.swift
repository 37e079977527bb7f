/// A valid request, by its target.
enum ReadRequest: Sendable {
    /// A request to a device or channel.
    case push(PushRequest)
    /// A request to users. `indirect`, so that an `Audience` does not enlarge the other case.
    indirect case audience(Audience)
}
