import Text

/// How values of one kind are read from JSON and written to it.
public struct ValueCodec<Value>: Sendable {
    public typealias Reader = @Sendable (_ json: JSONValue, _ name: String) throws(InputError) -> Value
    public typealias Writer = @Sendable (_ value: Value, _ json: inout JSONWriter) -> Void

    /// What a value is, as errors and help say it, such as `a whole number from 1 to 9`.
    public let form: String
    /// The words that a value can be; empty if it is no word.
    public let words: [String]
    private let reader: Reader
    private let writer: Writer

    /// - Parameter reader: gets the value, and its name for errors.
    public init(_ form: String, words: [String] = [], reader: @escaping Reader, writer: @escaping Writer) {
        (self.form, self.words, self.reader, self.writer) = (form, words, reader, writer)
    }

    /// - Parameter read: returns nil for a value of another form, which becomes an error: `NAME is FORM`.
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

    /// - Parameter name: what the value is called in errors.
    public func read(_ json: JSONValue, _ name: String) throws(InputError) -> Value { try reader(json, name) }

    public func write(_ value: Value, to json: inout JSONWriter) { writer(value, &json) }
}

extension ValueCodec {
    /// Returns a codec of values that are written as values of this codec.
    ///
    /// - Parameters:
    ///   - form: what a value is; nil: as before.
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

    /// Returns a codec that takes fewer values.
    public func checked(_ form: String, _ isValid: @escaping @Sendable (Value) -> Bool) -> ValueCodec {
        mapped(form, read: { isValid($0) ? $0 : nil }, write: { $0 })
    }

    /// Also takes null, which is nil.
    public var nullable: ValueCodec<Value?> {
        ValueCodec<Value?>(
            "\(form) or null", words: words,
            reader: { json, name throws(InputError) in json.isNull ? nil : try read(json, name) },
            writer: { value, json in if let value { write(value, to: &json) } else { json.null() } })
    }

    /// Also takes a value in a shorter form than an object.
    ///
    /// - Parameters:
    ///   - short: of values in the shorter form.
    ///   - abbreviate: returns nil for a value that is written in full.
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
        self.init("\(name) is \(form)\(hint)", node: json.nodeIndex)
    }
}
