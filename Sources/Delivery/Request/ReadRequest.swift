/// A valid request, by its target.
enum ReadRequest: Sendable {
    /// A request to a device or channel.
    case push(PushRequest)
    /// A request to users. `indirect`, so that requests to devices are not larger.
    indirect case audience(Audience)
}
