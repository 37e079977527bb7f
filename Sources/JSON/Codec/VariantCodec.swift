import Text

/// A codec of values with several variants. In JSON, a variant is its word, or an object with one member. The name of
/// the member is the word. The value of the member contains the details.
public struct VariantCodec<Value>: Sendable {
    private let variants: [Variant<Value>]
    private let word: @Sendable (Value) -> String

    /// Creates a codec from the variants.
    ///
    /// - Parameters:
    ///   - variants: one for each word.
    ///   - word: returns the word of a value's variant.
    public init(_ variants: [Variant<Value>], word: @escaping @Sendable (Value) -> String) {
        (self.variants, self.word) = (variants, word)
    }

    public var value: ValueCodec<Value> {
        let form = "a word, or an object with that word as its only member"
        return ValueCodec(
            form, words: variants.map(\.word),
            reader: { json, name throws(InputError) in
                guard let (word, details) = Self.parts(of: json) else {
                    throw InputError("\(name) must be \(form)", node: json.nodeIndex)
                }
                return try read(word, details, name, json)
            },
            writer: { value, json in
                let word = word(value)
                guard let variant = variants.first(where: { $0.word == word }) else {
                    preconditionFailure("no variant has the word \(word)")
                }
                variant.write(value, &json)
            })
    }

    private static func parts(of json: JSONValue) -> (word: String, details: JSONValue?)? {
        if let word = json.string { return (word, nil) }
        guard json.kind == .object, json.count == 1 else { return nil }
        for (key, value) in json.members { return (key.string ?? "", value.isNull ? nil : value) }
        return nil
    }

    private func read(
        _ word: String, _ details: JSONValue?, _ name: String, _ json: JSONValue
    ) throws(InputError) -> Value {
        guard let variant = variants.first(where: { $0.word == word }) else {
            let words = variants.map(\.word)
            throw InputError(
                "unknown \(name) '\(word)'; known: \(words.joined(separator: ", "))"
                    + Suggestion.hint(for: word, among: words),
                node: json.nodeIndex)
        }
        do throws(InputError) {
            return try variant.read(details)
        } catch {
            throw error.at(json)
        }
    }
}

/// One variant of a ``VariantCodec``.
public struct Variant<Value>: Sendable {
    let word: String
    fileprivate let read: @Sendable (JSONValue?) throws(InputError) -> Value
    fileprivate let write: @Sendable (Value, inout JSONWriter) -> Void

    /// Returns a variant without details.
    public static func word(_ word: String, _ value: Value) -> Self where Value: Sendable {
        Self(
            word: word,
            read: { details throws(InputError) in
                if let details { throw InputError("\(word) must have no details", node: details.nodeIndex) }
                return value
            }, write: { _, json in json.string(word) })
    }

    /// Returns a variant with details.
    ///
    /// - Parameters:
    ///   - alone: the value for the word without details; nil if the word requires details.
    ///   - details: returns nil for a value that is written as the word only.
    public static func details<Details>(
        _ word: String, _ codec: ValueCodec<Details>, alone: Value? = nil,
        make: @escaping @Sendable (Details) -> Value, details: @escaping @Sendable (Value) -> Details?
    ) -> Self where Value: Sendable {
        Self(
            word: word,
            read: { json throws(InputError) in
                if let json { return make(try codec.read(json, word)) }
                guard let alone else { throw InputError("\(word) must have details; write an object") }
                return alone
            },
            write: { value, json in
                guard let details = details(value) else { return json.string(word) }
                json.beginObject()
                json.key(word)
                codec.write(details, to: &json)
                json.endObject()
            })
    }
}
