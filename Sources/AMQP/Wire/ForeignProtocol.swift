/// A protocol other than AMQP 0-9-1, recognized by the first bytes with which its server answers AMQP's protocol
/// header.
enum ForeignProtocol: CaseIterable {
    case tls
    case http
    /// Another version of AMQP. A broker that refuses version 0-9-1 sends its own protocol header (AMQP 0-9-1, section
    /// 4.2.2).
    case otherAMQP

    /// Recognizes the protocol. Returns nil if the protocol is unknown.
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

    /// The cause of the failure and, if there is one, the remedy.
    var text: String {
        switch self {
        case .tls: "this port accepts only TLS; write amqps://, or use the port without TLS (5672)"
        case .http: "this port serves HTTP; use the AMQP port (5672, or 5671 with amqps://)"
        case .otherAMQP: "the broker does not support AMQP 0-9-1"
        }
    }
}
