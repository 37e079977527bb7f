import JSON

/// A scalar of the core schema of YAML 1.2 (chapter 10.3).
struct YAMLScalar {
    enum Value: Equatable {
        case null
        case bool(Bool)
        /// A number in JSON notation.
        case number(String)
        case string(String)
    }

    static let tagPrefix = "tag:yaml.org,2002:"

    let value: Value

    init(_ scalar: YAMLEvents.Scalar, at position: JSONPosition) throws(YAMLError) {
        func failure(_ message: String) -> YAMLError {
            YAMLError(code: .unsupported, position: position, message: message)
        }
        let tag = scalar.tag.map { $0.hasPrefix(Self.tagPrefix) ? String($0.dropFirst(Self.tagPrefix.count)) : $0 }
        switch tag {
        case nil:
            value = scalar.isPlain ? Self.plain(scalar.text) : .string(scalar.text)
        case "str", "!":
            value = .string(scalar.text)
        case "null", "bool", "int", "float":
            value = Self.plain(scalar.text)
            guard Self.kind(value).contains(tag ?? "") else { throw failure("the value does not match its tag") }
        default:
            throw failure("unsupported tag")
        }
        if tag == nil, scalar.isPlain, Self.isNotFinite(scalar.text) {
            throw failure("a number must be finite; for a string, use quotes")
        }
    }

    func write(to json: inout JSONWriter) {
        switch value {
        case .null: json.null()
        case .bool(let value): json.bool(value)
        case .number(let text): json.raw(Array(text.utf8))
        case .string(let text): json.string(text)
        }
    }

    private static func kind(_ value: Value) -> [String] {
        switch value {
        case .null: ["null"]
        case .bool: ["bool"]
        case .number(let text):
            text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0.isDigit } ? ["int", "float"] : ["float"]
        case .string: []
        }
    }

    private static func plain(_ text: String) -> Value {
        switch text {
        case "", "~", "null", "Null", "NULL": .null
        case "true", "True", "TRUE": .bool(true)
        case "false", "False", "FALSE": .bool(false)
        default: (integer(text) ?? decimal(text)).map { .number($0) } ?? .string(text)
        }
    }

    /// Parses `0o17` and `0x1F` of at most 64 bits. Returns nil for other texts, so larger values are strings.
    private static func integer(_ text: String) -> String? {
        let radix = text.hasPrefix("0o") ? 8 : text.hasPrefix("0x") ? 16 : 0
        let digits = text.dropFirst(2)
        guard radix > 0, let first = digits.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-") else {
            return nil
        }
        return UInt64(digits, radix: radix).map { String($0) }
    }

    /// Parses `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`. Returns the number in JSON
    /// notation; nil for other texts.
    private static func decimal(_ text: String) -> String? {
        var rest = text.utf8[...]
        func digits() -> String {
            let digits = rest.prefix { $0.isDigit }
            rest = rest.dropFirst(digits.count)
            return String(digits) ?? ""
        }
        func consume(_ characters: String) -> String {
            guard let byte = rest.first, characters.utf8.contains(byte) else { return "" }
            rest = rest.dropFirst()
            return String(decoding: [byte], as: UTF8.self)
        }
        let isNegative = consume("+-") == "-"
        let whole = digits()
        let hasPoint = !consume(".").isEmpty
        let fraction = hasPoint ? digits() : ""
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent = ""
        if !consume("eE").isEmpty {
            let sign = consume("+-")
            let power = digits()
            guard !power.isEmpty else { return nil }
            exponent = "e" + sign + power
        }
        guard rest.isEmpty else { return nil }
        let plainWhole = whole.drop { $0 == "0" }
        return (isNegative ? "-" : "") + (plainWhole.isEmpty ? "0" : plainWhole)
            + (fraction.isEmpty ? "" : "." + fraction)
            + exponent
    }

    private static func isNotFinite(_ text: String) -> Bool {
        let word = text.first == "+" || text.first == "-" ? text.dropFirst() : text[...]
        return [".inf", ".Inf", ".INF"].contains(word) || [".nan", ".NaN", ".NAN"].contains(text)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
