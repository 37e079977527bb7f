import APNSProtocol
import Crypto
import JSON

/// The members of a command, as in `schemas/registration.schema.json`.
enum CommandMember: String, CaseIterable {
    case command
    case id
    case app
    case environment
    case kind
    case scope
    case user
    case deviceToken = "device_token"
    case deviceID = "device_id"
    case platform
    case registeredAt = "registered_at"
    case expiresAt = "expires_at"
    case shared
    case status
    case reason
    case timestamp

    private static let appCharactersMax = 200
    static let reasonCharactersMax = 100

    /// Returns the keyword of the JSON schema that the value violates; nil for a valid value.
    func violatedKeyword(of value: JSONValue) -> String? {
        switch self {
        case .command: Self.keyword(value, RegistrationCommand.Word.self)
        case .environment: Self.keyword(value, APNSEnvironment.self)
        case .kind: Self.keyword(value, TokenKind.self)
        case .platform: Self.keyword(value, DevicePlatform.self)
        case .id: Self.keyword(value) { UUIDValue($0) == nil ? "pattern" : nil }
        case .app:
            Self.keyword(value) { text in
                Self.keyword(text, charactersMax: Self.appCharactersMax)
                    ?? (text.utf8.allSatisfy(Self.isAppCharacter) ? nil : "pattern")
            }
        case .user:
            Self.keyword(value) { text in
                Self.keyword(text, charactersMax: RegistrationLimits.userBytesMax)
                    ?? (text.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "pattern" : nil)
            }
        case .deviceToken:
            Self.keyword(value) { text in
                if text.utf8.count > DeviceToken.hexDigitsMax { return "maxLength" }
                return DeviceToken.isWellFormed(text.utf8) ? nil : "pattern"
            }
        case .scope, .deviceID: Self.keyword(value) { Self.keyword($0, charactersMax: RegistrationLimits.nameBytesMax) }
        case .reason: Self.keyword(value) { Self.keyword($0, charactersMax: Self.reasonCharactersMax) }
        case .registeredAt, .expiresAt, .timestamp: Self.keyword(value, RegistrationLimits.times)
        case .status: Self.keyword(value, 100...599)
        case .shared: value.bool == nil ? "type" : nil
        }
    }

    /// The form of a valid value, for error messages.
    var form: String {
        switch self {
        case .command: Self.words(RegistrationCommand.Word.self)
        case .environment: Self.words(APNSEnvironment.self)
        case .kind: Self.words(TokenKind.self)
        case .platform: Self.words(DevicePlatform.self)
        case .id: "a UUID"
        case .app: "a bundle ID of at most \(Self.appCharactersMax) characters"
        case .user: "text of 1 to \(RegistrationLimits.userBytesMax) bytes without control characters"
        case .deviceToken: "hexadecimal, with two digits per byte and at most \(DeviceToken.hexDigitsMax) digits"
        case .scope, .deviceID: "text of 1 to \(RegistrationLimits.nameBytesMax) bytes"
        case .reason: "text of 1 to \(Self.reasonCharactersMax) characters"
        case .registeredAt, .expiresAt, .timestamp: "a whole number of UNIX milliseconds, with 13 digits"
        case .status: "an HTTP status"
        case .shared: "true or false"
        }
    }

    private static func words<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) -> String {
        "one of " + Word.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private static func keyword<Word: RawRepresentable<String>>(_ value: JSONValue, _: Word.Type) -> String? {
        value.string.flatMap { Word(rawValue: $0) } == nil ? "enum" : nil
    }

    private static func keyword(_ value: JSONValue, _ range: ClosedRange<Int64>) -> String? {
        guard let number = value.int64 else {
            // JSON Schema counts a whole number that exceeds 64 bits as an integer.
            guard let number = value.double, number == number.rounded() else { return "type" }
            return number < 0 ? "minimum" : "maximum"
        }
        return number < range.lowerBound ? "minimum" : number > range.upperBound ? "maximum" : nil
    }

    private static func keyword(_ value: JSONValue, _ check: (String) -> String?) -> String? {
        guard let text = value.string else { return "type" }
        return check(text)
    }

    private static func keyword(_ text: String, charactersMax: Int) -> String? {
        if text.isEmpty { return "minLength" }
        return text.unicodeScalars.count > charactersMax ? "maxLength" : nil
    }

    private static func isAppCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
