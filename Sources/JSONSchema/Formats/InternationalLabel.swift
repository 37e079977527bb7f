/// A label in any script, as IDNA 2008 allows it (RFC 5891, section 4.2). RFC 5892 specifies the characters, and RFC
/// 5893 the text direction.
struct InternationalLabel {
    private let scalars: [Unicode.Scalar]

    init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    var isValid: Bool {
        guard let first = scalars.first, first != "-", scalars.last != "-",
            !(scalars.count >= 4 && scalars[2] == "-" && scalars[3] == "-"), !first.properties.isMark
        else { return false }
        return scalars.indices.allSatisfy { isAllowed(at: $0) } && hasOneDirection
    }

    private func isAllowed(at index: Int) -> Bool {
        let scalar = scalars[index]
        switch scalar.value {
        // RFC 5892, section 2.6: exceptions to the rules by property.
        case 0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007: return true
        case 0x640, 0x7FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: return false
        // RFC 5892, appendix A: allowed only with, or only without, certain other characters in the label.
        case 0x200C: return isBehindVirama(index) || joins(index)
        case 0x200D: return isBehindVirama(index)
        case 0xB7:
            return index > 0 && index + 1 < scalars.count && scalars[index - 1] == "l" && scalars[index + 1] == "l"
        case 0x375: return index + 1 < scalars.count && Script.greek.contains(scalars[index + 1])
        case 0x5F3, 0x5F4: return index > 0 && Script.hebrew.contains(scalars[index - 1])
        case 0x30FB:
            return scalars.contains {
                Script.hiragana.contains($0) || Script.katakana.contains($0) || Script.han.contains($0)
            }
        case 0x660...0x669: return !scalars.contains { (0x6F0...0x6F9).contains($0.value) }
        case 0x6F0...0x6F9: return !scalars.contains { (0x660...0x669).contains($0.value) }
        // Old Hangul.
        case 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7FB: return false
        case 0x2D: return true
        default: return scalar.properties.isLetterOrDigit && !scalar.properties.changesWhenNFKCCaseFolded
        }
    }

    private func isBehindVirama(_ index: Int) -> Bool {
        index > 0 && scalars[index - 1].properties.canonicalCombiningClass == .virama
    }

    /// Returns whether the position is between letters that join. Only letters of the Arabic script count as joining
    /// letters.
    private func joins(_ index: Int) -> Bool {
        let before = scalars[..<index].last { !$0.properties.isMark }
        let after = scalars[(index + 1)...].first { !$0.properties.isMark }
        guard let before, let after else { return false }
        return Script.arabic.contains(before) && Script.arabic.contains(after)
    }

    /// Whether the label follows the rules of RFC 5893, section 2, as far as scripts determine the direction.
    /// Right-to-left text is not mixed with other letters.
    private var hasOneDirection: Bool {
        guard scalars.contains(where: { Script.rightToLeft.contains($0) }) else { return true }
        guard let first = scalars.first, Script.rightToLeft.contains(first), !first.properties.isDecimal else {
            return false
        }
        let last = scalars.last { !$0.properties.isMark }
        guard let last, Script.rightToLeft.contains(last) || last.properties.isDecimal else { return false }
        let hasEuropean = scalars.contains { ("0"..."9").contains($0) || (0x6F0...0x6F9).contains($0.value) }
        let hasArabic = scalars.contains { (0x660...0x669).contains($0.value) }
        guard !(hasEuropean && hasArabic) else { return false }
        return scalars.allSatisfy { scalar in
            Script.rightToLeft.contains(scalar) || scalar.properties.isDecimal || scalar.properties.isMark
                || scalar == "-" || scalar.value == 0x200C || scalar.value == 0x200D
        }
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isMark: Bool {
        switch generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    fileprivate var isDecimal: Bool { generalCategory == .decimalNumber }

    fileprivate var isLetterOrDigit: Bool {
        switch generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark,
            .decimalNumber:
            true
        default: false
        }
    }
}

/// The code points of a script.
private struct Script {
    var ranges: [ClosedRange<UInt32>]

    func contains(_ scalar: Unicode.Scalar) -> Bool { ranges.contains { $0.contains(scalar.value) } }

    static let greek = Script(ranges: [0x370...0x373, 0x375...0x3E1, 0x3F0...0x3FF, 0x1F00...0x1FFF])
    static let hebrew = Script(ranges: [0x591...0x5F4, 0xFB1D...0xFB4F])
    static let arabic = Script(ranges: [0x620...0x6FF, 0x750...0x77F, 0x8A0...0x8FF])
    static let hiragana = Script(ranges: [0x3041...0x3096, 0x309D...0x309F, 0x1B001...0x1B11F])
    static let katakana = Script(ranges: [0x30A1...0x30FA, 0x30FD...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9D])
    static let han = Script(
        ranges: [
            0x2E80...0x2FD5, 0x3005...0x3007, 0x3021...0x3029, 0x3038...0x303B, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xF900...0xFAD9, 0x20000...0x323AF,
        ])
    /// The right-to-left scripts without the extended Arabic-Indic digits, which follow the rules of European digits.
    static let rightToLeft = Script(ranges: [
        0x590...0x6EF, 0x6FA...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF,
    ])
}
