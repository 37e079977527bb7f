/// The versions of TLS that are spoken; older ones are refused.
public enum TLSVersion: Int32, Sendable, CustomStringConvertible {
    /// The numbers are the protocol's own (RFC 8446, 4.2.1).
    case tls12 = 0x0303
    case tls13 = 0x0304

    public var description: String {
        switch self {
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }
}
