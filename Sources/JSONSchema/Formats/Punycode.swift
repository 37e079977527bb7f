/// The ASCII form of host name labels (RFC 3492).
enum Punycode {
    private static let base = 36
    private static let thresholdMin = 1
    private static let thresholdMax = 26
    /// Maximum number of characters in a label, because an encoded label has at most 63 bytes. Also bounds the time of
    /// decoding and encoding.
    private static let countMax = 63

    /// Decodes the part of a label after `xn--`. Returns nil if the part is invalid.
    static func decoded(_ text: Slice<UnsafeRawBufferPointer>) -> [Unicode.Scalar]? {
        guard text.count <= countMax else { return nil }
        let plain = text.lastIndex(of: UInt8(ascii: "-"))
        var result = plain.map { text[..<$0].map { Unicode.Scalar($0) } } ?? []
        guard plain != text.startIndex else { return nil }
        var rest = plain.map { text[text.index(after: $0)...] } ?? text
        var code = 128
        var index = 0
        var bias = 72
        while !rest.isEmpty {
            let before = index
            var weight = 1
            var position = base
            while true {
                guard let digit = rest.popFirst().flatMap(digit) else { return nil }
                index += digit * weight
                let threshold = min(max(position - bias, thresholdMin), thresholdMax)
                guard index < 1 << 40 else { return nil }
                if digit < threshold { break }
                weight *= base - threshold
                guard weight < 1 << 30 else { return nil }
                position += base
            }
            let count = result.count + 1
            bias = adapted(index - before, count: count, isFirst: before == 0)
            code += index / count
            index %= count
            guard code <= 0x10FFFF, let scalar = Unicode.Scalar(UInt32(code)) else { return nil }
            result.insert(scalar, at: index)
            index += 1
        }
        return result
    }

    /// Returns the length of an encoded label without `xn--`; nil if the label is too long.
    static func encodedCount(_ scalars: [Unicode.Scalar]) -> Int? {
        guard scalars.count <= countMax else { return nil }
        var handled = scalars.filter(\.isASCII).count
        var result = handled > 0 ? handled + 1 : 0
        var code = 128
        var delta = 0
        var bias = 72
        let asciiCount = handled
        while handled < scalars.count {
            guard let next = scalars.map({ Int($0.value) }).filter({ $0 >= code }).min() else { return nil }
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in scalars.map({ Int($0.value) }) {
                if scalar < code { delta += 1 }
                guard scalar == code else { continue }
                result += digitCount(delta, bias)
                bias = adapted(delta, count: handled + 1, isFirst: handled == asciiCount)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        return result
    }

    private static func digitCount(_ delta: Int, _ bias: Int) -> Int {
        var left = delta
        var count = 1
        var position = base
        while true {
            let threshold = min(max(position - bias, thresholdMin), thresholdMax)
            guard left >= threshold else { return count }
            left = (left - threshold) / (base - threshold)
            count += 1
            position += base
        }
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias = 0
        while delta > (base - thresholdMin) * thresholdMax / 2 {
            delta /= base - thresholdMin
            bias += base
        }
        return bias + (base - thresholdMin + 1) * delta / (delta + 38)
    }

    private static func digit(_ byte: UInt8) -> Int? {
        if byte.isDigit { return Int(byte - UInt8(ascii: "0")) + 26 }
        return byte.isLetter ? Int((byte | 0x20) - UInt8(ascii: "a")) : nil
    }
}
