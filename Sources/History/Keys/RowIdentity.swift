/// The device token and the user of a row, and their encoding.
struct RowIdentity: Sendable, Hashable {
    var deviceToken: String?
    var user: String?

    private static let hexadecimal: UInt8 = 1
    private static let text: UInt8 = 2

    var isEmpty: Bool { deviceToken == nil && user == nil }

    init(deviceToken: String?, user: String?) {
        self.deviceToken = deviceToken
        self.user = user
    }

    /// One byte for the form of the token, two bytes for its length, the token, and the user. A token of an even number
    /// of lower-case hexadecimal digits has one byte for two digits.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        let token = Array((deviceToken ?? "").utf8)
        if let packed = Self.packed(token) {
            bytes = [Self.hexadecimal, UInt8(packed.count >> 8), UInt8(packed.count & 255)] + packed
        } else {
            bytes = [Self.text, UInt8(token.count >> 8 & 255), UInt8(token.count & 255)] + token
        }
        bytes += (user ?? "").utf8
        return bytes
    }

    /// Reads an encoding; nil if it is malformed.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 3 else { return nil }
        let end = 3 + (Int(bytes[1]) << 8 | Int(bytes[2]))
        guard end <= bytes.count else { return nil }
        let token = bytes[3..<end]
        switch bytes[0] {
        case Self.hexadecimal: deviceToken = Self.digits(token)
        case Self.text: deviceToken = String(decoding: token, as: UTF8.self)
        default: return nil
        }
        user = String(decoding: bytes[end...], as: UTF8.self)
        if deviceToken?.isEmpty == true { deviceToken = nil }
        if user?.isEmpty == true { user = nil }
    }

    private static func packed(_ text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty, text.count % 2 == 0 else { return nil }
        var bytes = [UInt8]()
        bytes.reserveCapacity(text.count / 2)
        for place in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(text[place]), let low = value(text[place + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
        return String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }, as: UTF8.self)
    }
}
