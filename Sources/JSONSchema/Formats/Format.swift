/// The formats of draft-07 and 2020-12.
enum Format: String {
    case dateTime = "date-time"
    case date
    case time
    case duration
    case email
    case internationalEmail = "idn-email"
    case hostname
    case internationalHostname = "idn-hostname"
    case ipv4
    case ipv6
    case uri
    case uriReference = "uri-reference"
    case iri
    case iriReference = "iri-reference"
    case uriTemplate = "uri-template"
    case uuid
    case jsonPointer = "json-pointer"
    case relativeJSONPointer = "relative-json-pointer"
    case regex

    /// Returns whether the text has this format.
    ///
    /// - Parameter text: well-formed UTF-8.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var reader = FormatReader(text)
        switch self {
        case .dateTime: return reader.dateTime() && reader.isAtEnd
        case .date: return reader.date() && reader.isAtEnd
        case .time: return reader.time() && reader.isAtEnd
        case .duration: return reader.duration() && reader.isAtEnd
        case .uuid: return reader.uuid() && reader.isAtEnd
        case .email: return MailboxFormat.matches(text, isInternational: false)
        case .internationalEmail: return MailboxFormat.matches(text, isInternational: true)
        case .hostname: return HostnameFormat.matches(text[...])
        case .internationalHostname: return InternationalHostname.matches(text)
        case .ipv4: return AddressFormat.isIPv4(text[...])
        case .ipv6: return AddressFormat.isIPv6(text[...])
        case .uri: return URIFormat(isInternational: false).matches(text, isReference: false)
        case .uriReference: return URIFormat(isInternational: false).matches(text, isReference: true)
        case .iri: return URIFormat(isInternational: true).matches(text, isReference: false)
        case .iriReference: return URIFormat(isInternational: true).matches(text, isReference: true)
        case .uriTemplate: return URITemplateFormat.matches(text)
        case .jsonPointer: return PointerFormat.isPointer(text[...])
        case .relativeJSONPointer: return PointerFormat.isRelative(text)
        case .regex: return ECMAExpression.isExpression(text)
        }
    }
}

/// A reader of a text from left to right. Each method skips its element, and returns false or nil if the text does not
/// continue with the element.
struct FormatReader {
    var rest: Slice<UnsafeRawBufferPointer>

    init(_ text: UnsafeRawBufferPointer) { rest = text[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Accepts a letter in either case.
    mutating func take(letter: Unicode.Scalar) -> Bool {
        guard let first = rest.first, first | 0x20 == UInt8(ascii: letter) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads a number with exactly `count` digits. Returns nil for fewer digits.
    mutating func number(_ count: Int) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let byte = rest.first, byte.isDigit else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            rest = rest.dropFirst()
        }
        return value
    }

    /// Accepts one or more digits.
    mutating func digits() -> Bool {
        let count = rest.prefix { $0.isDigit }.count
        rest = rest.dropFirst(count)
        return count > 0
    }
}

extension UInt8 {
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
    var isLetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }
    var isHexDigit: Bool { hexDigitValue != nil }

    var hexDigitValue: UInt8? {
        if isDigit { return self - UInt8(ascii: "0") }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}
