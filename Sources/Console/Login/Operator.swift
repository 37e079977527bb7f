import ControlProtocol

/// An operator that has logged in.
struct Operator: Sendable, Hashable {
    /// The proof of the operator's identity.
    enum Proof: Sendable, Hashable {
        /// A code of `martlet console open`.
        case code
        /// A personal token, by its hash.
        case token(hash: String)
        /// The headers of a proxy.
        case proxy
    }

    var name: String
    var role: OperatorRole
    var proof: Proof
}
