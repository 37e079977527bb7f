/// A parser of times that an operator wrote, in UNIX milliseconds or in the format of RFC 3339.
package enum RegistrationTime {
    private static let millisecondDigits = 13
    private static let secondsPerDay: Int64 = 86_400

    /// Returns the UNIX milliseconds of a text; nil if the text is invalid. Valid are 13 digits, and times from 1970 on
    /// such as `2026-11-29T17:00:00Z` and `2026-11-29T18:00:00.250+01:00`. Ignores digits after the milliseconds.
    package static func milliseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        if bytes.count == millisecondDigits, bytes.allSatisfy(isDigit) { return Int64(text) }
        guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] | 0x20 == UInt8(ascii: "t") || bytes[10] == UInt8(ascii: " "), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":"),
            let year = number(bytes[0..<4], in: 1970...9999), let month = number(bytes[5..<7], in: 1...12),
            let day = number(bytes[8..<10], in: 1...31), day <= days(in: month, of: year),
            let hour = number(bytes[11..<13], in: 0...23), let minute = number(bytes[14..<16], in: 0...59),
            let second = number(bytes[17..<19], in: 0...59)
        else { return nil }
        var rest = bytes[19...]
        guard let fraction = fraction(&rest), let offset = offsetSeconds(rest) else { return nil }
        let time = (hour * 60 + minute) * 60 + second
        return (daysSinceEpoch(year, month, day) * secondsPerDay + time - offset) * 1000 + fraction
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func number(_ digits: ArraySlice<UInt8>, in range: ClosedRange<Int64>) -> Int64? {
        guard digits.allSatisfy(isDigit) else { return nil }
        let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        return range.contains(number) ? number : nil
    }

    /// Removes a fraction of a second, and returns its milliseconds. Returns 0 without a fraction; nil for a point
    /// without digits.
    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.first == UInt8(ascii: ".") else { return 0 }
        let digits = rest.dropFirst().prefix(while: isDigit)
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
        let three = Array(digits.prefix(3)) + [UInt8](repeating: UInt8(ascii: "0"), count: max(0, 3 - digits.count))
        return number(three[...], in: 0...999)
    }

    private static func offsetSeconds(_ rest: ArraySlice<UInt8>) -> Int64? {
        let bytes = Array(rest)
        if bytes.count == 1, bytes[0] | 0x20 == UInt8(ascii: "z") { return 0 }
        guard bytes.count == 6, bytes[3] == UInt8(ascii: ":"),
            let hours = number(bytes[1..<3], in: 0...23), let minutes = number(bytes[4..<6], in: 0...59)
        else { return nil }
        let seconds = (hours * 60 + minutes) * 60
        switch bytes[0] {
        case UInt8(ascii: "+"): return seconds
        case UInt8(ascii: "-"): return -seconds
        default: return nil
        }
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of days since 1970-01-01 in the Gregorian calendar. Computes with years that begin in March,
    /// so that the leap day is the last day of its year.
    private static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
