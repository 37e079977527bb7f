internal import COpenSSL
internal import Crypto
internal import EventLoop

/// The conversion of OpenSSL's errors to messages for operators.
enum TLSFailure {
    /// Returns the error of a failed certificate verification.
    ///
    /// - Parameters:
    ///   - result: an `X509_V_ERR_…` code.
    ///   - place: the peer, which starts the message.
    ///   - name: the host name or address that was verified; nil on a server.
    static func certificate(_ result: Int, place: String, name: String?) -> TransportError {
        let whose = name == nil ? "the client's certificate" : "the server's certificate"
        let reason =
            switch Int32(truncatingIfNeeded: result) {
            case X509_V_ERR_CERT_HAS_EXPIRED: "\(whose), or a certificate in the chain, has expired"
            case X509_V_ERR_CERT_NOT_YET_VALID: "\(whose) is not valid yet; check this machine's clock"
            case X509_V_ERR_HOSTNAME_MISMATCH: "\(whose) is for a host name other than \(name ?? "")"
            case X509_V_ERR_IP_ADDRESS_MISMATCH: "\(whose) is for an address other than \(name ?? "")"
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
                "\(whose) is signed by an authority that is not trusted; configure the CA file of the authority"
            default: "\(whose) is not valid: \(String(cString: X509_verify_cert_error_string(result)))"
            }
        return TransportError(.certificate, "\(place): \(reason)")
    }

    /// Returns the error of a failed OpenSSL call.
    ///
    /// - Parameters:
    ///   - error: the entry of OpenSSL's error queue; nil if the queue was empty.
    ///   - hasCertificate: whether this side has a certificate, which the peer may refuse.
    ///   - showsCertificate: whether this side is a client with a certificate. The alerts `handshake_failure`,
    ///     `access_denied` and `decrypt_error` then count as a refusal of the certificate.
    static func session(
        _ error: OpenSSLErrors.Entry?, place: String, isHandshaking: Bool, hasCertificate: Bool, showsCertificate: Bool
    ) -> TransportError {
        let during = isHandshaking ? "TLS handshake" : "TLS"
        guard let error else { return TransportError(.tls, "\(place): \(during) failed") }
        switch error.reason {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            let detail = isHandshaking ? "during the TLS handshake" : "without close_notify"
            return TransportError(.reset, "\(place): the peer closed the connection \(detail)")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST:
            return TransportError(
                .notTLS,
                "\(place): the peer does not speak TLS on this port; check whether the port is for plain connections")
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
            return TransportError(.tls, "\(place): no TLS version in common; TLS 1.2 or later is required")
        case SSL_R_NO_APPLICATION_PROTOCOL, SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
            return TransportError(.tls, "\(place): no application protocol (ALPN) in common")
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
            return TransportError(.tls, "\(place): the peer requires a client certificate, and none is configured")
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return TransportError(.certificate, "\(place): the client presented no certificate")
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
        TransportError(.certificateRefused, "\(place): the peer does not accept the local certificate (\(alert.text))")
    }

    static func protocolMissing(_ wanted: [String], place: String) -> TransportError {
        TransportError(.tls, "\(place): the peer did not agree to \(wanted.joined(separator: " or ")) (ALPN)")
    }
}
