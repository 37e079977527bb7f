internal import COpenSSL

/// A BIO between OpenSSL and a session. OpenSSL reads directly from the received bytes, and its output is appended to
/// the session's output. The BIO has no buffer of its own, and writing never blocks.
enum SessionBIO {
    /// Creates a BIO over `session`, which is not retained and must outlive the BIO. Returns nil if OpenSSL fails.
    static func make(for session: TLSSession) -> OpaquePointer? {
        guard let method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(session).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    /// The functions of the BIO, immutable after creation and never freed.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "martlet session") else {
            return nil
        }
        BIO_meth_set_read(method, readCiphertext)
        BIO_meth_set_write(method, writeCiphertext)
        BIO_meth_set_ctrl(method, control)
        return method
    }()

    private static func session(of bio: OpaquePointer?) -> TLSSession? {
        BIO_get_data(bio).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let readCiphertext: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int32) -> Int32 = {
        bio, buffer, length in
        martlet_bio_clear_retry_flags(bio)
        guard let session = session(of: bio), let buffer, length > 0 else { return -1 }
        let count = session.readInput(UnsafeMutableRawBufferPointer(start: buffer, count: Int(length)))
        if count > 0 { return Int32(truncatingIfNeeded: count) }
        if session.hasInputEnded { return 0 }
        martlet_bio_set_retry_read(bio)
        return -1
    }

    private static let writeCiphertext: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
        bio, bytes, length in
        martlet_bio_clear_retry_flags(bio)
        guard let session = session(of: bio), let bytes, length > 0 else { return -1 }
        return session.appendOutput(UnsafeRawBufferPointer(start: bytes, count: Int(length))) ? length : -1
    }

    private static let control: @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int = {
        bio, command, _, _ in
        switch command {
        case BIO_CTRL_FLUSH: 1
        case BIO_CTRL_EOF: session(of: bio)?.hasInputEnded == true ? 1 : 0
        default: 0
        }
    }
}
