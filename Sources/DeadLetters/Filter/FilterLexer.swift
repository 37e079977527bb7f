/// A lexer that splits the text of a filter into tokens.
struct FilterLexer {
    /// Maximum length of a filter in bytes.
    static let bytesMax = 4096

    private let source: [UInt8]
    private var place = 0

    init(_ text: String) throws(FilterError) {
        source = Array(text.utf8)
        guard source.count <= Self.bytesMax else {
            throw FilterError(offset: Self.bytesMax, message: "the filter is longer than \(Self.bytesMax) bytes")
        }
    }

    /// Returns all tokens. The last token is `end`.
    static func tokens(of text: String) throws(FilterError) -> [FilterToken] {
        var lexer = try FilterLexer(text)
        var tokens: [FilterToken] = []
        repeat { tokens.append(try lexer.next()) } while tokens[tokens.count - 1].kind != .end
        return tokens
    }

    private mutating func next() throws(FilterError) -> FilterToken {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { place += 1 }
        let start = place
        guard let byte = peek else { return FilterToken(kind: .end, offset: start) }
        let kind: FilterToken.Kind
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            kind = .text(try text())
        } else if isDigit(byte) || byte == UInt8(ascii: "-") {
            kind = try number()
        } else if isNameStart(byte) {
            while let byte = peek, isNamePart(byte) { place += 1 }
            kind = .name(String(decoding: source[start..<place], as: UTF8.self))
        } else {
            kind = .symbol(try symbol())
        }
        return FilterToken(kind: kind, offset: start)
    }

    private var peek: UInt8? { place < source.count ? source[place] : nil }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
    private func isNameStart(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "_") || (byte | 0x20) &- 0x61 < 26 }
    private func isNamePart(_ byte: UInt8) -> Bool {
        isNameStart(byte) || isDigit(byte) || byte == UInt8(ascii: "-")
    }

    /// Reads a string in single or double quotes. A backslash escapes the next character.
    private mutating func text() throws(FilterError) -> String {
        let start = place
        let quote = source[start]
        var bytes: [UInt8] = []
        place += 1
        while let byte = peek, byte != quote {
            if byte == UInt8(ascii: "\\") { place += 1 }
            guard let byte = peek else { break }
            bytes.append(byte)
            place += 1
        }
        guard peek == quote else { throw FilterError(offset: start, message: "the string has no closing quote") }
        place += 1
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let unitMilliseconds: [String: Double] = [
        "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]

    private mutating func number() throws(FilterError) -> FilterToken.Kind {
        let start = place
        if peek == UInt8(ascii: "-") { place += 1 }
        while let byte = peek, isDigit(byte) || byte == UInt8(ascii: ".") { place += 1 }
        let written = String(decoding: source[start..<place], as: UTF8.self)
        guard let value = Double(written), value.isFinite else {
            throw FilterError(offset: start, message: "invalid number")
        }
        let unitStart = place
        while let byte = peek, isNamePart(byte) { place += 1 }
        guard place > unitStart else { return .number(value) }
        let unit = String(decoding: source[unitStart..<place], as: UTF8.self)
        guard let milliseconds = Self.unitMilliseconds[unit] else {
            throw FilterError(offset: unitStart, message: "the unit of a duration must be ms, s, m, h or d")
        }
        return .duration(value * milliseconds)
    }

    private static let symbols = ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ",", "."]

    private mutating func symbol() throws(FilterError) -> String {
        let rest = source[place...]
        if let symbol = Self.symbols.first(where: { rest.starts(with: $0.utf8) }) {
            place += symbol.utf8.count
            return symbol
        }
        let hint =
            switch source[place] {
            case UInt8(ascii: "="): "; for equality, use =="
            case UInt8(ascii: "&"): "; for a logical and, use &&"
            case UInt8(ascii: "|"): "; for a logical or, use ||"
            default: ""
            }
        throw FilterError(offset: place, message: "unexpected character\(hint)")
    }
}
