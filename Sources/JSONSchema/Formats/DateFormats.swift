/// Dates and times of RFC 3339, durations of its appendix A, and UUIDs.
extension FormatReader {
    mutating func dateTime() -> Bool {
        date() && take(letter: "t") && time()
    }

    mutating func date() -> Bool {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
            (1...12).contains(month), day >= 1
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        switch month {
        case 2: return day <= (isLeap ? 29 : 28)
        case 4, 6, 9, 11: return day <= 30
        default: return day <= 31
        }
    }

    /// Reads a time. Accepts a leap second only at the end of a UTC day.
    mutating func time() -> Bool {
        guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2), hour < 24,
            minute < 60, second <= 60
        else { return false }
        if take(".") {
            guard digits() else { return false }
        }
        guard let offset = offsetMinutes() else { return false }
        let utc = (hour * 60 + minute - offset + 2 * 1440) % 1440
        return second < 60 || utc == 1439
    }

    private mutating func offsetMinutes() -> Int? {
        if take(letter: "z") { return 0 }
        let sign = take("+") ? 1 : take("-") ? -1 : 0
        guard sign != 0, let hour = number(2), take(":"), let minute = number(2), hour < 24, minute < 60 else {
            return nil
        }
        return sign * (hour * 60 + minute)
    }

    /// Reads a duration. It consists of weeks only, or of a date part, a time part after `T`, or both parts. The date
    /// part has years, months and days. The time part has hours, minutes and seconds. A part has no gaps between its
    /// units.
    mutating func duration() -> Bool {
        guard take("P") else { return false }
        var weeks = self
        if weeks.digits(), weeks.take("W") {
            self = weeks
            return true
        }
        guard let date = units("YMD") else { return false }
        guard take("T") else { return date > 0 }
        guard let time = units("HMS") else { return false }
        return time > 0
    }

    /// Reads numbers with units in the order of `names`. Returns the count of units; nil if a unit is missing or wrong.
    private mutating func units(_ names: String) -> Int? {
        var left = Array(names.unicodeScalars)[...]
        var count = 0
        while rest.first?.isDigit ?? false {
            guard digits() else { return nil }
            if count == 0 {
                while let name = left.first, rest.first != UInt8(ascii: name) { left = left.dropFirst() }
            }
            guard let name = left.popFirst(), take(name) else { return nil }
            count += 1
        }
        return count
    }

    mutating func uuid() -> Bool {
        for (index, count) in [8, 4, 4, 4, 12].enumerated() {
            guard index == 0 || take("-"), rest.prefix(count).count == count,
                rest.prefix(count).allSatisfy({ $0.isHexDigit })
            else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
