/// A copy of a filter's text for records that must not contain personal data.
package enum FilterMask {
    /// Returns the text with `"…"` instead of each string that is compared with the device token, the body or a header.
    /// Returns `…` for a text that is no filter.
    package static func masked(_ text: String) -> String {
        guard let tokens = try? FilterLexer.tokens(of: text) else { return "…" }
        let source = Array(text.utf8)
        var masked: [UInt8] = []
        var (isPersonal, isValue) = (false, false)
        for (token, next) in zip(tokens, tokens.dropFirst()) {
            switch token.kind {
            case .name("contains"), .name("startsWith"), .name("in"): isValue = true
            case .name("true"), .name("false"), .name("null"): break
            case .name(let name):
                guard isValue || !isPersonal else { break }
                (isPersonal, isValue) = (["token", "body", "header"].contains(name), false)
            case .symbol(let symbol):
                if Filter.Comparison(rawValue: symbol) != nil { isValue = true }
                if ["&&", "||"].contains(symbol) { (isPersonal, isValue) = (false, false) }
            case .text, .number, .duration, .end: break
            }
            guard case .text = token.kind, isPersonal, isValue else {
                masked += source[token.offset..<next.offset]
                continue
            }
            masked += #""…""#.utf8
            masked += source[token.offset..<next.offset].reversed().prefix { $0 == UInt8(ascii: " ") }
        }
        return String(decoding: masked, as: UTF8.self)
    }
}
