internal import COpenSSL
internal import Crypto
internal import EventLoop

/// One side of a TLS connection without I/O. The session converts between ciphertext and plaintext.
final class TLSSession {
    /// Amount of pending ciphertext at which the session accepts no more plaintext.
    static let ciphertextBytesMax = 128 * 1024
    /// Space beyond `ciphertextBytesMax` for the last record and for OpenSSL's own messages (handshake, alerts, key
    /// updates). The connection fails if a peer triggers more messages and does not read them.
    static let answersBytesMax = 64 * 1024
    /// Maximum plaintext size of a TLS record (RFC 8446, 5.1).
    static let recordBytesMax = 16 * 1024

    enum Progress {
        case done
        /// The need for more ciphertext.
        case needsInput
        case failed(TransportError)
    }

    enum ReadProgress {
        case bytes(Int)
        case needsInput
        /// The peer's close_notify.
        case finished
        case failed(TransportError)
    }

    /// The peer, for error messages.
    let place: String
    /// Ciphertext for the transport below.
    var output = OutputBuffer(bytesMax: ciphertextBytesMax)
    /// Whether no ciphertext follows the bytes in `input`.
    private(set) var hasInputEnded = false

    /// The function that decides about a client's certificate, given in DER, if the context accepts any certificate.
    /// If the function returns false, the certificate is refused as revoked.
    var admits: ([UInt8]) -> Bool = { _ in true }

    private let context: TLSContext
    private let ssl: OpaquePointer
    private let name: String?
    private var input = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Creates the client's or the server's side of a connection.
    ///
    /// - Parameter name: the host name or address for which a server's certificate must be valid; nil on a server.
    /// - Throws: `resources`, or `tls` for an invalid name.
    init(_ context: TLSContext, name: String?, place: String) throws(TransportError) {
        self.context = context
        self.place = place
        self.name = name
        OpenSSLErrors.clear()
        guard let ssl = SSL_new(context.pointer) else {
            throw TransportError(.resources, "\(place): cannot set up TLS: out of memory")
        }
        self.ssl = ssl
        guard let bio = SessionBIO.make(for: self) else {
            throw TransportError(.resources, "\(place): cannot set up TLS: out of memory")
        }
        SSL_set_bio(ssl, bio, bio)
        SSL_set_ex_data(ssl, Self.sessionIndex, Unmanaged.passUnretained(self).toOpaque())
        if context.isServer {
            SSL_set_accept_state(ssl)
            return
        }
        SSL_set_connect_state(ssl)
        guard expect(name ?? "") else {
            throw TransportError(.tls, "\(place): \(name ?? "") is not a valid server name")
        }
    }

    deinit { SSL_free(ssl) }

    /// OpenSSL's index for application data.
    private static let sessionIndex: Int32 = 0

    /// Returns the session that uses this `SSL`.
    static func session(of ssl: OpaquePointer) -> TLSSession? {
        SSL_get_ex_data(ssl, sessionIndex).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns the DER form of a certificate; nil if there is no certificate or OpenSSL fails.
    static func der(of certificate: OpaquePointer?) -> [UInt8]? {
        guard let certificate else { return nil }
        defer { OpenSSLErrors.clear() }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &bytes)
        guard count > 0, let bytes else { return nil }
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// Sets the name for which the certificate must be valid. Sends a host name, but never an address, in the
    /// ClientHello (RFC 6066, 3). Returns false for an invalid name.
    private func expect(_ name: String) -> Bool {
        defer { OpenSSLErrors.clear() }
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1 { return true }
        guard !name.isEmpty, !name.utf8.contains(0) else { return false }
        SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        return SSL_set1_host(ssl, name) == 1 && martlet_ssl_set_server_name(ssl, name) == 1
    }

    /// Calls `body` with `bytes` as input. Returns the number of trailing bytes that OpenSSL has not read.
    func withInput(_ bytes: UnsafeRawBufferPointer, hasEnded: Bool, _ body: () -> Void) -> Int {
        input = bytes
        if hasEnded { hasInputEnded = true }
        body()
        defer { input = UnsafeRawBufferPointer(start: nil, count: 0) }
        return input.count
    }

    /// Moves input to `buffer`, for the BIO. Returns the number of bytes.
    func readInput(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, input.count)
        guard count > 0 else { return 0 }
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }

    /// Appends ciphertext to the output, for the BIO. Returns false if the output is full because the peer does not
    /// read.
    func appendOutput(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard output.count < Self.ciphertextBytesMax + Self.answersBytesMax else { return false }
        output.append(bytes)
        return true
    }

    func handshake() -> Progress {
        OpenSSLErrors.clear()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            guard !context.requiresApplicationProtocol || applicationProtocol != nil else {
                return .failed(TLSFailure.protocolMissing(context.applicationProtocols, place: place))
            }
            return .done
        }
        if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return .needsInput }
        return .failed(failure(isHandshaking: true))
    }

    /// Decrypts at most one record into `buffer`.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadProgress {
        OpenSSLErrors.clear()
        let result = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        if result > 0 { return .bytes(Int(result)) }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .finished
        default: return .failed(failure(isHandshaking: false))
        }
    }

    /// Encrypts `bytes` from offset `taken`, until the output is full, and advances `taken`. Returns the error; nil
    /// if there is none.
    func write(_ bytes: UnsafeRawBufferPointer, taken: inout Int) -> TransportError? {
        OpenSSLErrors.clear()
        while taken < bytes.count, !output.isFull {
            let record = bytes[taken...].prefix(Self.recordBytesMax)
            let result = SSL_write(
                ssl, UnsafeRawBufferPointer(rebasing: record).baseAddress, Int32(clamping: record.count))
            // Writing to memory never blocks, so a result of 0 or less is an error.
            guard result > 0 else { return failure(isHandshaking: false) }
            taken += Int(result)
        }
        return nil
    }

    /// Appends close_notify to the output. The peer may continue to send.
    func finishWriting() {
        OpenSSLErrors.clear()
        SSL_shutdown(ssl)
        OpenSSLErrors.clear()
    }

    private func failure(isHandshaking: Bool) -> TransportError {
        let error = OpenSSLErrors.drain()
        let verification = SSL_get_verify_result(ssl)
        if isHandshaking, error?.reason == SSL_R_CERTIFICATE_VERIFY_FAILED, verification != Int(X509_V_OK) {
            return TLSFailure.certificate(verification, place: place, name: name)
        }
        let showsCertificate = context.hasIdentity && !context.isServer
        return TLSFailure.session(
            error, place: place, isHandshaking: isHandshaking, hasCertificate: context.hasIdentity,
            showsCertificate: showsCertificate)
    }

    var version: TLSVersion? { TLSVersion(rawValue: SSL_version(ssl)) }

    var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// The peer's certificate in DER; nil if the peer presented none.
    var peerCertificate: [UInt8]? { Self.der(of: SSL_get0_peer_certificate(ssl)) }

    var hasVerifiedPeerCertificate: Bool {
        SSL_get0_peer_certificate(ssl) != nil && SSL_get_verify_result(ssl) == Int(X509_V_OK)
    }
}
