/// The JSON objects that stand for values of one type. Each member is declared once, as an ``ObjectField``: reader, writer
/// and help follow from the declaration.
public struct ObjectCodec<Object: Sendable>: Sendable {
    public typealias Check = @Sendable (_ object: Object, _ members: ObjectMembers) throws(InputError) -> Void

    /// What an object is called in errors, such as `a device`.
    private let name: String
    private let initial: Object
    /// Names of the members that the object may have; nil: of any.
    private let names: [String]?
    private let fields: [ObjectField<Object>]
    private let check: Check

    /// - Parameters:
    ///   - initial: has the values of members that the text leaves out.
    ///   - ignoresUnknown: whether members without a field are ignored; else they are errors.
    ///   - fields: in the order in which members are read and written.
    ///   - check: tests what no single member decides.
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

    /// The members in their order, with what help says of each.
    public var help: [MemberHelp] { fields.flatMap(\.help) }

    /// - Throws: if a member is missing, unknown or not of its form.
    public func read(_ json: JSONValue) throws(InputError) -> Object {
        var object = initial
        try read(json, into: &object)
        return object
    }

    /// Members that the text leaves out keep their values. After an error, some members may have changed.
    public func read(
        _ json: JSONValue, into object: inout Object, _ reading: ObjectReading = .whole
    ) throws(InputError) {
        try read(try ObjectMembers(json, of: name, known: names), into: &object, reading)
    }

    func read(_ members: ObjectMembers, into object: inout Object, _ reading: ObjectReading) throws(InputError) {
        for field in fields { try field.read(members, reading, &object) }
        try check(object, members)
    }

    /// Reads another object from these members.
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

    /// Adds the members to an object that has begun.
    public func writeMembers(_ object: Object, to json: inout JSONWriter) {
        for field in fields { field.write(object, &json) }
    }

    /// The objects as values of members and elements of lists.
    public var value: ValueCodec<Object> {
        ValueCodec(
            "an object", reader: { json, _ throws(InputError) in try read(json) },
            writer: { object, json in write(object, to: &json) })
    }

    /// As ``value``, of values that other types hold.
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

/// What must be in the text of an object.
public enum ObjectReading: Sendable {
    /// Every required member.
    case whole
    /// Required members, but no identities: these are known, for instance from a URL.
    case identified
    /// Only what changes.
    case changes
}

/// What help says of one member.
public struct MemberHelp: Sendable, Hashable {
    public var name: String
    /// What its values are, as ``ValueCodec/form`` says it.
    public var form: String
    /// The words that a value can be; empty if it is no word.
    public var words: [String]
    public var meaning: String
}
