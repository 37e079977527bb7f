/// Whom a request comes from, as far as its connection has proved.
enum Sender: Hashable {
    /// Nobody was asked: pushes without provider token are served.
    case anyone
    /// Whoever holds the key with this id.
    case key(id: String)
    /// Whoever holds the certificate that the connection was opened with.
    case certificate
}
