import APNSProtocol
import AdminHTTP
import ControlProtocol
import Crypto
import Delivery
import History

/// The query of a request for a page of the history. All values come from outside.
struct HistoryRequest: Sendable, Equatable {
    static let rowsMax = 50
    private static let idBytesMax = 1024
    /// Maximum size of a cursor, such as `3.17`, in bytes.
    private static let cursorBytesMax = 40

    var query: HistoryQuery
    var before: HistoryPosition?

    /// The note of an answer without requests; nil if the query needs none.
    var emptyNote: String? {
        guard case .token(let token) = query, token.utf8.count > HistoryQuery.tokenDigits.upperBound, before == nil
        else { return nil }
        return "A part of a device token finds requests only if it has at most "
            + "\(HistoryQuery.tokenDigits.upperBound) digits."
    }

    static let names = ["id", "token", "user", "before"]

    init(_ request: AdminRequest) throws(AdminError) {
        let (id, token, user) = (request.query("id"), request.query("token"), request.query("user"))
        guard [id, token, user].count(where: { $0 != nil }) <= 1 else {
            throw AdminError(400, "pass one of id, token and user", code: "invalid")
        }
        query = .newest
        if let id { query = .id(try Self.id(id)) }
        if let token { query = .token(try Self.token(token)) }
        if let user {
            guard 1...JournalLimits.userBytesMax ~= user.utf8.count else {
                throw AdminError(
                    400, "user must have 1 to \(JournalLimits.userBytesMax) bytes", code: "invalid")
            }
            query = .user(user)
        }
        before = try request.query("before").map { text throws(AdminError) in
            guard let position = Self.position(text) else {
                throw AdminError(
                    400, "before must be the value of the member `next` of an earlier response", code: "cursor")
            }
            return position
        }
    }

    /// Reads the key of a request, or a cursor. Returns nil for a text of another form.
    static func position(_ text: String) -> HistoryPosition? {
        guard text.utf8.count <= cursorBytesMax, let position = HistoryPosition(text), "\(position)" == text else {
            return nil
        }
        return position
    }

    private static func id(_ text: String) throws(AdminError) -> UUIDValue {
        guard text.utf8.count <= idBytesMax, let id = RequestIdentity.of(messageID: text) else {
            throw AdminError(400, "id must have 1 to \(idBytesMax) bytes", code: "invalid")
        }
        return id
    }

    private static func token(_ text: String) throws(AdminError) -> String {
        let digits = HistoryQuery.tokenDigits
        guard text.utf8.allSatisfy({ DeviceToken.isHexDigit($0) }),
            digits.contains(text.utf8.count)
                || text.utf8.count > digits.upperBound && DeviceToken.isWellFormed(text.utf8)
        else {
            let part = "its first \(digits.lowerBound) to \(digits.upperBound) hexadecimal digits"
            throw AdminError(400, "token must be a whole device token, or \(part)", code: "invalid")
        }
        return text
    }
}
