/// A common kind of regular expression, which is matched without PCRE2 in one pass. It has characters and classes with
/// counts between `^` and `$`. Examples are `^[A-Za-z0-9.-]+$` and `^([0-9a-f]{2})+$`.
struct ClassSequence {
    /// Consecutive characters of one class.
    struct Item: BitwiseCopyable {
        /// The ASCII characters below 64, one bit each. `high` has the other ASCII characters.
        var low: UInt64 = 0
        var high: UInt64 = 0
        /// Whether the class contains all characters beyond ASCII. Otherwise, it contains none.
        var hasRest = false
        var countMin = 1
        var countMax = 1
        /// A divisor of every valid count.
        var countStep = 1

        mutating func insert(_ byte: UInt8) {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }

        mutating func formUnion(_ other: Item) {
            low |= other.low
            high |= other.high
            hasRest = hasRest || other.hasRest
        }

        mutating func invert() {
            low = ~low
            high = ~high
            hasRest.toggle()
        }

        func isDisjoint(with other: Item) -> Bool {
            low & other.low == 0 && high & other.high == 0 && !(hasRest && other.hasRest)
        }

        @inline(__always) func contains(_ byte: UInt8) -> Bool {
            byte < 128 ? (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1 : hasRest
        }
    }

    /// Returns the items of an expression; nil for another kind of expression, or if a character could belong to either
    /// of two items.
    static func items(_ expression: UnsafeRawBufferPointer) -> [Item]? {
        var reader = ClassSequenceReader(expression)
        guard let items = reader.items() else { return nil }
        for (index, item) in items.enumerated() where item.countMin != item.countMax {
            for next in items[(index + 1)...] {
                guard item.isDisjoint(with: next) else { return nil }
                if next.countMin > 0 { break }
            }
        }
        return items
    }

    /// Returns whether the text matches, and how many bytes were read. `text` must be well-formed UTF-8.
    static func match(
        _ items: UnsafeBufferPointer<Item>, _ text: UnsafeRawBufferPointer
    ) -> (isMatch: Bool, bytes: Int) {
        var place = 0
        for item in items {
            var count = 0
            if item.hasRest {
                while place < text.count, item.contains(text[place]) {
                    // Do not count the continuation bytes of UTF-8 as characters.
                    if text[place] & 0xC0 != 0x80 {
                        if count == item.countMax { break }
                        count += 1
                    }
                    place += 1
                }
            } else {
                let start = place
                let end = place + min(item.countMax, text.count - place)
                while place < end, item.contains(text[place]) { place &+= 1 }
                count = place - start
            }
            guard count >= item.countMin, item.countStep == 1 || count % item.countStep == 0 else {
                return (false, place)
            }
        }
        return (place == text.count, place)
    }
}

/// A parser of a `ClassSequence`. The parsing methods return nil for any other expression.
private struct ClassSequenceReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ expression: UnsafeRawBufferPointer) { rest = expression[...] }

    mutating func items() -> [ClassSequence.Item]? {
        guard take("^") else { return nil }
        var items: [ClassSequence.Item] = []
        while !rest.isEmpty {
            if take("$") { return rest.isEmpty ? items : nil }
            guard let item = take("(") ? group() : counted() else { return nil }
            items.append(item)
        }
        return nil
    }

    /// Parses a group such as `(x{2})+`, whose count is a multiple of a number.
    private mutating func group() -> ClassSequence.Item? {
        if take("?") {
            guard take(":") else { return nil }
        }
        guard var item = counted(), item.countMin == item.countMax, item.countMin > 0, take(")"),
            let times = count(), times.max == .max
        else { return nil }
        let (least, overflow) = item.countMin.multipliedReportingOverflow(by: times.min)
        guard !overflow else { return nil }
        item.countStep = item.countMin
        item.countMin = least
        item.countMax = .max
        return item
    }

    private mutating func counted() -> ClassSequence.Item? {
        guard var item = take("[") ? characterClass() : single(), let times = count() else { return nil }
        item.countMin = times.min
        item.countMax = times.max
        return item
    }

    private mutating func single() -> ClassSequence.Item? {
        guard let byte = rest.popFirst(), byte < 0x80 else { return nil }
        if byte == UInt8(ascii: "\\") { return escape() }
        guard !".*+?()[]{}|^$/".utf8.contains(byte) else { return nil }
        return item(byte)
    }

    private func item(_ byte: UInt8) -> ClassSequence.Item {
        var item = ClassSequence.Item()
        item.insert(byte)
        return item
    }

    private func item(_ range: ClosedRange<UInt8>) -> ClassSequence.Item {
        range.reduce(into: ClassSequence.Item()) { $0.insert($1) }
    }

    /// Parses an escape after its backslash.
    private mutating func escape() -> ClassSequence.Item? {
        guard let byte = rest.popFirst() else { return nil }
        switch byte {
        case UInt8(ascii: "d"):
            return item(UInt8(ascii: "0")...UInt8(ascii: "9"))
        case UInt8(ascii: "u"):
            guard rest.count >= 4, let digits = String(validating: rest.prefix(4), as: UTF8.self),
                digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }), let code = UInt8(digits, radix: 16), code < 0x80
            else { return nil }
            rest = rest.dropFirst(4)
            return item(code)
        case _ where ".*+?()[]{}|^$/\\-".utf8.contains(byte):
            return item(byte)
        default:
            return nil
        }
    }

    /// Parses a class after its `[`.
    private mutating func characterClass() -> ClassSequence.Item? {
        let isInverted = take("^")
        var all = ClassSequence.Item()
        while !take("]") {
            guard let first = member() else { return nil }
            all.formUnion(first.item)
            guard rest.first == UInt8(ascii: "-"), rest.dropFirst().first != UInt8(ascii: "]") else { continue }
            _ = take("-")
            guard let low = first.byte, let last = member(), let high = last.byte, low <= high else { return nil }
            all.formUnion(item(low...high))
        }
        if isInverted { all.invert() }
        return all
    }

    /// Parses a character or an escape of a class.
    private mutating func member() -> (item: ClassSequence.Item, byte: UInt8?)? {
        guard let byte = rest.popFirst(), byte < 0x80, byte != UInt8(ascii: "[") else { return nil }
        guard byte == UInt8(ascii: "\\") else { return (item(byte), byte) }
        guard let item = escape() else { return nil }
        let isSingle = item.low.nonzeroBitCount + item.high.nonzeroBitCount == 1
        let single = item.low != 0 ? item.low.trailingZeroBitCount : 64 + item.high.trailingZeroBitCount
        return (item, isSingle ? UInt8(truncatingIfNeeded: single) : nil)
    }

    /// Parses a quantifier. Returns the bounds of the count, which are 1 and 1 without a quantifier.
    private mutating func count() -> (min: Int, max: Int)? {
        let times: (Int, Int)
        if take("*") {
            times = (0, .max)
        } else if take("+") {
            times = (1, .max)
        } else if take("?") {
            times = (0, 1)
        } else if take("{") {
            guard let least = number() else { return nil }
            let most = take(",") ? (rest.first == UInt8(ascii: "}") ? .max : number()) : least
            guard let most, least <= most, take("}") else { return nil }
            times = (least, most)
        } else {
            return (1, 1)
        }
        // A second quantifier character makes the quantifier lazy, or is an error.
        return rest.first.map { "*+?{".utf8.contains($0) } ?? false ? nil : times
    }

    private mutating func number() -> Int? {
        let digits = rest.prefix { $0 &- UInt8(ascii: "0") < 10 }
        rest = rest.dropFirst(digits.count)
        return digits.count > 5 ? nil : String(validating: digits, as: UTF8.self).flatMap { Int($0) }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }
}
