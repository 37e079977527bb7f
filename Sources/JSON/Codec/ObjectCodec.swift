/// A codec of JSON objects of one type. Each member is declared once, as an ``ObjectField``. The declaration defines
/// reading, writing and the help.
public struct ObjectCodec<Object: Sendable>: Sendable {
    public typealias Check = @Sendable (_ object: Object, _ members: ObjectMembers) throws(InputError) -> Void

    /// The object's name in errors, such as `a device`.
    private let name: String
    private let initial: Object
    /// The names of the allowed members; nil allows any.
    private let names: [String]?
    private let fields: [ObjectField<Object>]
    private let check: Check

    /// Creates a codec from the fields of the object.
    ///
    /// - Parameters:
    ///   - initial: the object with the values of omitted members.
    ///   - ignoresUnknown: whether members without a field are ignored. Otherwise, they are errors.
    ///   - fields: in the order of reading and writing.
    ///   - check: a check across several members, which throws if they contradict each other.
    public init(
        _ name: String, from initial: Object, ignoresUnknown: Bool = false, _ fields: [ObjectField<Object>],
        check: @escaping Check = { _, _ throws(InputError) in }
    ) {
        self.name = name
        self.initial = initial
        names = ignoresUnknown ? nil : fields.flatMap { $0.help.map(\.name) }
        self.fields = fields
        self.check = check
    }

    /// The members in order, with their help.
    public var help: [MemberHelp] { fields.flatMap(\.help) }

    /// Reads a new object. Omitted members keep their initial values.
    ///
    /// - Throws: if `json` is not an object, if a member is missing, unknown or invalid, or if `check` throws.
    public func read(_ json: JSONValue) throws(InputError) -> Object {
        var object = initial
        try read(json, into: &object)
        return object
    }

    /// Reads members into `object`. Omitted members keep their values. After an error, some members may have changed.
    public func read(
        _ json: JSONValue, into object: inout Object, _ reading: ObjectReading = .whole
    ) throws(InputError) {
        try read(try ObjectMembers(json, of: name, known: names), into: &object, reading)
    }

    func read(_ members: ObjectMembers, into object: inout Object, _ reading: ObjectReading) throws(InputError) {
        for field in fields { try field.read(members, reading, &object) }
        try check(object, members)
    }

    func read(_ members: ObjectMembers) throws(InputError) -> Object {
        var object = initial
        try read(members, into: &object, .whole)
        return object
    }

    public func write(_ object: Object, to json: inout JSONWriter) {
        json.beginObject()
        writeMembers(object, to: &json)
        json.endObject()
    }

    /// Adds the members to an object that the writer has begun.
    public func writeMembers(_ object: Object, to json: inout JSONWriter) {
        for field in fields { field.write(object, &json) }
    }

    /// A codec for the object as a member or list element.
    public var value: ValueCodec<Object> {
        ValueCodec(
            "an object", reader: { json, _ throws(InputError) in try read(json) },
            writer: { object, json in write(object, to: &json) })
    }

    /// Returns a codec like ``value`` for values of another type.
    public func converted<Value>(
        read: @escaping @Sendable (Object, ObjectMembers) throws(InputError) -> Value,
        write: @escaping @Sendable (Value) -> Object
    ) -> ValueCodec<Value> {
        ValueCodec(
            "an object",
            reader: { json, _ throws(InputError) in
                let members = try ObjectMembers(json, of: name, known: names)
                return try read(try self.read(members), members)
            }, writer: { value, json in self.write(write(value), to: &json) })
    }
}

/// The members that the text of an object must have.
public enum ObjectReading: Sendable {
    /// Every required member.
    case whole
    /// Required members except identities, which are known, for example from a URL.
    case identified
    /// No members, because the text contains only changes.
    case changes
}

public struct MemberHelp: Sendable, Hashable {
    public var name: String
    /// The form of the member's values, as in ``ValueCodec/form``.
    public var form: String
    /// The allowed words; empty if the value is not one of a set of words.
    public var words: [String]
    public var meaning: String
}
