import Crypto
import Registrations

/// A calculator of the keys by which the history finds rows. Without the key file, the keys reveal neither tokens nor
/// users. Use an instance on one thread at a time.
final class HistoryHasher {
    private let tokens: HMACSHA256
    private let users: HMACSHA256
    private let ids: HMACSHA256
    private let groups: HMACSHA256

    /// - Throws: `failed` if OpenSSL fails.
    init(_ keys: RegistrationKeys) throws(CryptoError) {
        tokens = try HMACSHA256(key: try keys.historyLookupKey("token"))
        users = try HMACSHA256(key: try keys.historyLookupKey("user"))
        ids = try HMACSHA256(key: try keys.historyLookupKey("id"))
        groups = try HMACSHA256(key: try keys.historyLookupKey("group"))
    }

    /// Tokens are compared without regard to the case of their digits.
    func key(token: String) throws(CryptoError) -> HistoryKey { try key(token.lowercased(), tokens) }

    func key(user: String) throws(CryptoError) -> HistoryKey { try key(user, users) }

    func key(id: UUIDValue) throws(CryptoError) -> HistoryKey {
        let code = id.withText { text in
            Result { () throws(CryptoError) in try ids.shortCode(of: text) }
        }
        return HistoryKey(value: try code.get())
    }

    func key(_ subject: HistorySubject) throws(CryptoError) -> HistoryKey {
        switch subject {
        case .id(let id): try key(id: id)
        case .token(let token): try key(token: token)
        case .user(let user): try key(user: user)
        }
    }

    /// Returns the number of a group of dead letters, which is the same in all files.
    func group(_ parts: [String]) throws(CryptoError) -> Int64 {
        // Each part follows its length, so that no two lists have the same text.
        try key(parts.map { "\($0.utf8.count):\($0)" }.joined(), groups).column
    }

    private func key(_ text: String, _ mac: HMACSHA256) throws(CryptoError) -> HistoryKey {
        var text = text
        let code = text.withUTF8 { bytes in
            Result { () throws(CryptoError) in try mac.shortCode(of: UnsafeRawBufferPointer(bytes)) }
        }
        return HistoryKey(value: try code.get())
    }
}
