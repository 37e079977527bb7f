internal import COpenSSL

/// OpenSSL's error queue, which is per thread: clear it before a call whose result depends on it (`SSL_get_error`) and
/// drain it right after a failure, with no suspension in between, or the next connection reads this one's error.
package enum OpenSSLErrors {
    /// One entry of the queue.
    package struct Entry {
        /// Which part of OpenSSL (`ERR_LIB_SSL`, …).
        package let library: Int32
        /// Its own reason code (`SSL_R_…`).
        package let reason: Int32
        /// OpenSSL's words for the reason; they name no data.
        package let text: String
    }

    package static func clear() { ERR_clear_error() }

    /// Empties the queue and returns the oldest entry, which is the one nearest to the cause.
    package static func drain() -> Entry? {
        let code = ERR_get_error()
        guard code != 0 else { return nil }
        ERR_clear_error()
        let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "OpenSSL error \(code)"
        return Entry(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: text)
    }
}
