/// The supported TLS versions. Raw values are the protocol's version numbers (RFC 8446, 4.2.1).
public enum TLSVersion: Int32, Sendable, CustomStringConvertible {
    case tls12 = 0x0303
    case tls13 = 0x0304

    public var description: String {
        switch self {
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }
}
