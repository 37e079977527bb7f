internal import COpenSSL
internal import Crypto
internal import EventLoop

/// OpenSSL's reasons in words on which an operator can act.
enum TLSFailure {
    /// - Parameters:
    ///   - place: who the peer is, for the front of the message.
    ///   - name: the host name or address that was verified; nil on a server.
    static func certificate(_ result: Int, place: String, name: String?) -> TransportError {
        let whose = name == nil ? "the client's certificate" : "the server's certificate"
        let what =
            switch Int32(truncatingIfNeeded: result) {
            case X509_V_ERR_CERT_HAS_EXPIRED: "\(whose), or one above it, has expired"
            case X509_V_ERR_CERT_NOT_YET_VALID: "\(whose) is not valid yet; is this machine's clock right?"
            case X509_V_ERR_HOSTNAME_MISMATCH: "\(whose) is for another host name than \(name ?? "")"
            case X509_V_ERR_IP_ADDRESS_MISMATCH: "\(whose) is for another address than \(name ?? "")"
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
                "\(whose) is signed by an authority that is not trusted here; its CA file has to be configured"
            default: "\(whose) does not hold: \(String(cString: X509_verify_cert_error_string(result)))"
            }
        return TransportError(.certificate, "\(place): \(what)")
    }

    /// What OpenSSL's queue told after a call that failed.
    ///
    /// - Parameters:
    ///   - hasCertificate: whether this end has one that the peer may have something against.
    ///   - showsCertificate: whether it is a client that has; then alerts that name no cause are taken to be about it.
    static func session(
        _ error: OpenSSLErrors.Entry?, place: String, isHandshaking: Bool, hasCertificate: Bool, showsCertificate: Bool
    ) -> TransportError {
        let during = isHandshaking ? "TLS handshake" : "TLS"
        guard let error else { return TransportError(.tls, "\(place): \(during) failed") }
        switch error.reason {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            let what =
                isHandshaking ? "closed the connection during the TLS handshake" : "went without TLS's close_notify"
            return TransportError(.reset, "\(place): the peer \(what)")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST:
            return TransportError(
                .notTLS, "\(place): the peer does not speak TLS there; is it the port for plain connections?")
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
            return TransportError(.tls, "\(place): no version of TLS in common; 1.2 or later is wanted")
        case SSL_R_NO_APPLICATION_PROTOCOL, SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
            return TransportError(.tls, "\(place): no application protocol (ALPN) in common")
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
            return TransportError(.tls, "\(place): the peer wants a certificate of ours, and none is configured")
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return TransportError(.certificate, "\(place): the client showed no certificate")
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA where hasCertificate, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE where hasCertificate,
            SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED where hasCertificate,
            SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED where hasCertificate,
            SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN where hasCertificate,
            SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE where hasCertificate:
            return refused(error, place)
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE where showsCertificate,
            SSL_R_TLSV1_ALERT_ACCESS_DENIED where showsCertificate,
            SSL_R_TLSV1_ALERT_DECRYPT_ERROR where showsCertificate:
            return refused(error, place)
        default: return TransportError(.tls, "\(place): \(during) failed: \(error.text)")
        }
    }

    private static func refused(_ alert: OpenSSLErrors.Entry, _ place: String) -> TransportError {
        TransportError(.certificateRefused, "\(place): the peer does not accept our certificate (\(alert.text))")
    }

    static func protocolMissing(_ wanted: [String], place: String) -> TransportError {
        TransportError(.tls, "\(place): the peer did not agree to \(wanted.joined(separator: " or ")) (ALPN)")
    }
}
