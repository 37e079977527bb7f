internal import COpenSSL

/// BIOs over memory, through which OpenSSL reads and writes PEM.
package enum MemoryBIO {
    /// Calls `body` with a BIO that contains `bytes`, and returns the result. Returns nil if OpenSSL fails, or for more
    /// than 2³¹ − 1 bytes. The BIO is valid only during the call.
    package static func reading<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
        guard let length = Int32(exactly: bytes.count), let buffer = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(buffer) }
        guard BIO_write(buffer, bytes, length) == length || length == 0 else { return nil }
        return body(buffer)
    }

    /// Returns the text that `body` wrote to a BIO; nil if `body` returned false or OpenSSL fails.
    package static func text(_ body: (OpaquePointer) -> Bool) -> String? {
        guard let buffer = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(buffer) }
        guard body(buffer) else { return nil }
        let length = BIO_ctrl_pending(buffer)
        return String(unsafeUninitializedCapacity: length) { bytes in
            Int(max(0, BIO_read(buffer, bytes.baseAddress, Int32(clamping: bytes.count))))
        }
    }
}
