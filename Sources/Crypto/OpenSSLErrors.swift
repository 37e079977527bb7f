internal import COpenSSL

/// OpenSSL's error queue of this thread. Clear the queue before a call whose result depends on it (`SSL_get_error`),
/// and drain it right after a failure, without suspension in between. An error that stays in the queue would count as
/// an error of the next connection.
package enum OpenSSLErrors {
    /// One entry of the queue.
    package struct Entry {
        /// The part of OpenSSL that reported the error (`ERR_LIB_SSL`, …).
        package let library: Int32
        /// The reason code of that part (`SSL_R_…`).
        package let reason: Int32
        /// OpenSSL's text for the reason. Contains no data.
        package let text: String
    }

    package static func clear() { ERR_clear_error() }

    /// Empties the queue, and returns the oldest entry, which is the closest to the cause; nil if the queue was empty.
    package static func drain() -> Entry? {
        let code = ERR_get_error()
        guard code != 0 else { return nil }
        ERR_clear_error()
        let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "OpenSSL error \(code)"
        return Entry(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: text)
    }
}
