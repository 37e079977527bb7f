/// The format of a date in an HTTP header (RFC 9110, section 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the seconds since 1970; nil for a text of another format or a year before 1970. Ignores the weekday.
    static func unixSeconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[5] == "GMT", let day = Int64(words[1]), 1...31 ~= day,
            let month = months.firstIndex(of: String(words[2])), let year = Int64(words[3]), 1970...9999 ~= year
        else { return nil }
        let parts = words[4].split(separator: ":", omittingEmptySubsequences: false)
        let clock = parts.compactMap { Int64($0) }
        guard parts.count == 3, clock.count == 3, 0...23 ~= clock[0], 0...59 ~= clock[1], 0...60 ~= clock[2] else {
            return nil
        }
        return days(year, Int64(month) + 1, day) * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }

    /// Returns the number of days from 1970-01-01 to a date of the proleptic Gregorian calendar. Years start in March
    /// here, so the leap day is the last day of a year.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
