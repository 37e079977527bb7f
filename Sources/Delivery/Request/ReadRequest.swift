/// A valid request, by its target.
enum ReadRequest: Sendable {
    /// A request to a device or channel.
    case push(PushRequest)
    /// A request to users.
    case audience(Audience)
}
