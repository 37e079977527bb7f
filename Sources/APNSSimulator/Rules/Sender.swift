/// The sender of a request, as established by its authentication.
enum Sender: Hashable {
    /// The sender of a request without authentication, if the rules accept such requests.
    case anyone
    /// The owner of the key with this ID.
    case key(id: String)
    /// The owner of the connection's certificate.
    case certificate
}
