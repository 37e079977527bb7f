import Text

extension ValueCodec where Value == Bool {
    public static var bool: Self {
        Self("true or false", read: { $0.bool }, write: { value, json in json.bool(value) })
    }
}

extension ValueCodec where Value: FixedWidthInteger & Sendable {
    /// Returns a codec of whole numbers in `range`. The codec also reads the notations `1.0` and `1e3`.
    public static func int(_ range: ClosedRange<Value>) -> Self {
        Self(
            "a whole number from \(range.lowerBound) to \(range.upperBound)",
            read: { json in json.int64.flatMap(Value.init(exactly:)).flatMap { range.contains($0) ? $0 : nil } },
            write: { value, json in json.int(Int64(clamping: value)) })
    }
}

extension ValueCodec where Value: FixedWidthInteger & Sendable {
    /// A codec of whole numbers that fit both `Value` and `Int64`.
    public static var integer: Self {
        Self(
            "a whole number", read: { json in json.int64.flatMap(Value.init(exactly:)) },
            write: { value, json in json.int(Int64(clamping: value)) })
    }
}

extension ValueCodec where Value == Double {
    public static func number(_ range: ClosedRange<Double>) -> Self {
        Self(
            "a number from \(range.lowerBound) to \(range.upperBound)",
            read: { json in json.double.flatMap { range.contains($0) ? $0 : nil } },
            write: { value, json in json.double(value) })
    }
}

extension ValueCodec where Value == String {
    /// A codec of texts of any length.
    public static var text: Self { Self("a text", read: { $0.string }, write: { text, json in json.string(text) }) }

    /// Returns a codec of texts of limited length.
    ///
    /// - Parameter byteCount: the allowed lengths in bytes of UTF-8.
    public static func text(_ byteCount: ClosedRange<Int>) -> Self {
        let form = "a text of \(byteCount.lowerBound) to \(byteCount.upperBound) bytes"
        return Self(
            form,
            reader: { json, name throws(InputError) in
                if let text = json.string, byteCount.contains(text.utf8.count) { return text }
                // YAML parses unquoted digits as a number.
                let remedy = json.kind == .number ? "; write the value in quotes" : ""
                throw InputError("\(name) must be \(form)\(remedy)", node: json.nodeIndex)
            }, writer: { value, json in json.string(value) })
    }

    public static func word(of words: [String]) -> Self {
        Self(
            words.enumerated(with: "or"), words: words,
            read: { json in json.string.flatMap { words.contains($0) ? $0 : nil } },
            write: { value, json in json.string(value) })
    }
}

extension ValueCodec where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// A codec of the cases of an enumeration, which JSON represents by their raw values.
    public static var word: Self {
        ValueCodec<String>.word(of: Value.allCases.map(\.rawValue))
            .mapped(read: { Value(rawValue: $0) }, write: { $0.rawValue })
    }
}

extension ValueCodec {
    /// Returns a codec of lists.
    ///
    /// - Parameter name: the name of an element in errors, such as `an environment`.
    public static func list<Element>(of element: ValueCodec<Element>, _ name: String) -> Self where Value == [Element] {
        Self(
            "a list",
            reader: { json, listName throws(InputError) in
                var elements: [Element] = []
                try json.forEachElement(listName) { json throws(InputError) in
                    elements.append(try element.read(json, name))
                }
                return elements
            }, writer: { elements, json in json.array(elements) { element.write($1, to: &$0) } })
    }
}

extension ValueCodec where Value == [String] {
    public static var texts: Self { list(of: .text, "an element") }
}

extension JSONValue {
    /// Calls `body` with each element. Throws if the value is not a list.
    ///
    /// - Parameter name: the name of the list in errors.
    func forEachElement(
        _ name: String, _ body: (JSONValue) throws(InputError) -> Void
    ) throws(InputError) {
        guard kind == .array else { throw InputError("\(name) must be a list", node: nodeIndex) }
        for element in elements { try body(element) }
    }
}
