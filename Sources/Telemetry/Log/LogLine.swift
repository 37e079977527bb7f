import CLinux
import Text

/// One log line, built as JSON.
struct LogLine {
    /// Maximum bytes of one value. A longer value is cut and ends in `…`.
    static let valueBytesMax = 4096

    private(set) var bytes: [UInt8] = []

    /// Starts the line with the time, the level, and the code and message of the event.
    init(level: LogLevel, event: LogEvent) {
        bytes.reserveCapacity(256)
        append(#"{"time":""#)
        appendTime()
        append(#"","level":""#)
        append(level.description)
        append(#"","event":""#)
        append(event.rawValue)
        append(#"","message":"#)
        appendQuoted(event.message.description)
    }

    mutating func append(_ key: LogKey, _ value: LogValue) {
        append(",")
        appendQuoted(key.rawValue)
        append(":")
        switch value {
        case .string(let text): appendQuoted(text)
        case .integer(let number): append(String(number))
        // JSON has neither infinity nor NaN.
        case .number(let number): number.isFinite ? append(String(number)) : appendQuoted(String(number))
        case .boolean(let truth): append(truth ? "true" : "false")
        }
    }

    mutating func end() {
        append("}\n")
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a JSON string, cut to `valueBytesMax`. Escapes characters where JSON requires it, and also characters
    /// that can control a terminal, such as C1 controls and U+202E.
    private mutating func appendQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var isCut = false
        let start = bytes.count
        for scalar in text.unicodeScalars {
            guard bytes.count - start < Self.valueBytesMax else {
                isCut = true
                break
            }
            switch scalar {
            case "\"": append(#"\""#)
            case "\\": append(#"\\"#)
            case "\n": append(#"\n"#)
            case "\t": append(#"\t"#)
            case _ where scalar.steersTerminal: appendEscaped(scalar)
            default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        append(isCut ? "…\"" : "\"")
    }

    private mutating func appendEscaped(_ scalar: Unicode.Scalar) {
        for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
            let digits = String(unit, radix: 16)
            append(#"\u"# + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
        }
    }

    /// Appends the current UTC time in the format of RFC 3339, with milliseconds.
    private mutating func appendTime() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        gmtime_r(&now.tv_sec, &parts)
        appendPadded(Int(parts.tm_year) + 1900, 4)
        append("-")
        appendPadded(Int(parts.tm_mon) + 1, 2)
        append("-")
        appendPadded(Int(parts.tm_mday), 2)
        append("T")
        appendPadded(Int(parts.tm_hour), 2)
        append(":")
        appendPadded(Int(parts.tm_min), 2)
        append(":")
        appendPadded(Int(parts.tm_sec), 2)
        append(".")
        appendPadded(now.tv_nsec / 1_000_000, 3)
        append("Z")
    }

    private mutating func appendPadded(_ number: Int, _ width: Int) {
        let digits = String(number)
        append(String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits)
    }
}
