import Text

/// A codec of JSON values for one Swift type.
public struct ValueCodec<Value>: Sendable {
    public typealias Reader = @Sendable (_ json: JSONValue, _ name: String) throws(InputError) -> Value
    public typealias Writer = @Sendable (_ value: Value, _ json: inout JSONWriter) -> Void

    /// The form of a value for errors and help, such as `a whole number from 1 to 9`.
    public let form: String
    /// The allowed words; empty if the value is not one of a set of words.
    public let words: [String]
    private let reader: Reader
    private let writer: Writer

    /// Creates a codec whose reader throws its own errors.
    ///
    /// - Parameter reader: receives the value, and its name for errors.
    public init(_ form: String, words: [String] = [], reader: @escaping Reader, writer: @escaping Writer) {
        (self.form, self.words, self.reader, self.writer) = (form, words, reader, writer)
    }

    /// Creates a codec with the usual error for a value of another form.
    ///
    /// - Parameter read: returns nil for a value of another form. The error is then `NAME must be FORM`.
    public init(
        _ form: String, words: [String] = [], read: @escaping @Sendable (JSONValue) -> Value?, write: @escaping Writer
    ) {
        self.init(
            form, words: words,
            reader: { json, name throws(InputError) in
                guard let value = read(json) else { throw InputError(json, name, isNot: form, words) }
                return value
            }, writer: write)
    }

    /// Reads a value.
    ///
    /// - Parameter name: the name of the value in errors.
    public func read(_ json: JSONValue, _ name: String) throws(InputError) -> Value { try reader(json, name) }

    public func write(_ value: Value, to json: inout JSONWriter) { writer(value, &json) }
}

extension ValueCodec {
    /// Returns a codec for another type whose values are written as values of this codec.
    ///
    /// - Parameters:
    ///   - form: the form of a value; nil keeps the form of this codec.
    ///   - read: returns nil for a value of another form.
    public func mapped<Other>(
        _ form: String? = nil, read: @escaping @Sendable (Value) -> Other?, write: @escaping @Sendable (Other) -> Value
    ) -> ValueCodec<Other> {
        let form = form ?? self.form
        return ValueCodec<Other>(
            form, words: words,
            reader: { [words] json, name throws(InputError) in
                guard let value = read(try self.read(json, name)) else {
                    throw InputError(json, name, isNot: form, words)
                }
                return value
            }, writer: { value, json in self.write(write(value), to: &json) })
    }

    /// Returns a codec that accepts only values for which `isValid` returns true.
    public func checked(_ form: String, _ isValid: @escaping @Sendable (Value) -> Bool) -> ValueCodec {
        mapped(form, read: { isValid($0) ? $0 : nil }, write: { $0 })
    }

    /// A codec that also accepts null, as nil.
    public var nullable: ValueCodec<Value?> {
        ValueCodec<Value?>(
            "\(form) or null", words: words,
            reader: { json, name throws(InputError) in json.isNull ? nil : try read(json, name) },
            writer: { value, json in if let value { write(value, to: &json) } else { json.null() } })
    }

    /// Returns a codec that also accepts a shorter form instead of an object.
    ///
    /// - Parameters:
    ///   - short: the codec of the shorter form.
    ///   - abbreviate: returns nil for a value that must be written in full.
    public func abbreviated<Short>(
        _ short: ValueCodec<Short>, expand: @escaping @Sendable (Short) -> Value,
        abbreviate: @escaping @Sendable (Value) -> Short?
    ) -> ValueCodec {
        ValueCodec(
            "\(short.form), or \(form)", words: short.words,
            reader: { json, name throws(InputError) in
                json.kind == .object ? try read(json, name) : expand(try short.read(json, name))
            },
            writer: { value, json in
                if let value = abbreviate(value) { short.write(value, to: &json) } else { write(value, to: &json) }
            })
    }
}

extension InputError {
    fileprivate init(_ json: JSONValue, _ name: String, isNot form: String, _ words: [String]) {
        let hint = Suggestion.hint(for: json.string ?? "", among: words)
        self.init("\(name) must be \(form)\(hint)", node: json.nodeIndex)
    }
}
