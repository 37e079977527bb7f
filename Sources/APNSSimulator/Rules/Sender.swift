/// The authenticated sender of a request.
enum Sender: Hashable {
    /// The request has no authentication, and the rules accept that.
    case anyone
    /// The owner of the key with this ID.
    case key(id: String)
    /// The owner of the connection's certificate.
    case certificate
}
