/// A request that an endpoint has refused because of its `Host` or `Origin` header.
public enum ForeignRequest: Sendable, Hashable, CustomStringConvertible {
    /// The values of `Host`. A valid request has exactly one, which is a name of the endpoint.
    case hosts([String])
    /// A value of `Origin` that is not the endpoint.
    case origin(String)

    /// Maximum number of characters of a header in the description.
    private static let charactersMax = 200

    public var description: String {
        switch self {
        case .hosts(let names): "Host header: \(Self.cut(names.joined(separator: ", ")))"
        case .origin(let name): "Origin header: \(Self.cut(name))"
        }
    }

    private static func cut(_ text: String) -> Substring { text.isEmpty ? "none" : text.prefix(charactersMax) }
}
