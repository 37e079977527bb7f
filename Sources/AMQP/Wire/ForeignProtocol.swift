/// What a port speaks that does not carry AMQP 0-9-1, recognized by the bytes with which its server answers a protocol header.
enum ForeignProtocol: CaseIterable {
    case tls
    case http
    /// A broker that refuses version 0-9-1 sends its own protocol header (AMQP 0-9-1, section 4.2.2).
    case otherAMQP

    /// Returns nil if the bytes belong to none of them.
    init?(firstBytes bytes: UnsafeRawBufferPointer) {
        guard let found = Self.allCases.first(where: { bytes.starts(with: $0.firstBytes) }) else { return nil }
        self = found
    }

    private var firstBytes: [UInt8] {
        switch self {
        // An alert of any version (RFC 8446, section 5.1).
        case .tls: [21, 3]
        case .http: Array("HTTP/".utf8)
        case .otherAMQP: Array("AMQP".utf8)
        }
    }

    /// The cause and its remedy.
    var text: String {
        switch self {
        case .tls: "this port takes TLS only: write amqps://, or use the port without TLS (5672)"
        case .http: "this port answers in HTTP: use the port of AMQP (5672, or 5671 with amqps://)"
        case .otherAMQP: "the broker does not take AMQP 0-9-1"
        }
    }
}
