/// The declaration of one member of a JSON object, or of a group of members. A member that is a list may add its
/// elements to the object one by one.
public struct ObjectField<Object: Sendable>: Sendable {
    public typealias Path<Value> = any WritableKeyPath<Object, Value> & Sendable

    let help: [MemberHelp]
    let read: @Sendable (ObjectMembers, ObjectReading, inout Object) throws(InputError) -> Void
    let write: @Sendable (Object, inout JSONWriter) -> Void
}

extension ObjectField {
    /// Declares a value that the text may omit. An omitted value leaves the object unchanged.
    public static func member<Value>(
        _ name: String, _ path: Path<Value>, _ codec: ValueCodec<Value>, _ meaning: String = ""
    ) -> Self {
        field(name, path, codec, meaning)
    }

    /// Declares a value that the text may omit. The writer omits the value if it equals `omitted`.
    public static func member<Value: Equatable & Sendable>(
        _ name: String, _ path: Path<Value>, _ codec: ValueCodec<Value>, omitting omitted: Value, _ meaning: String = ""
    ) -> Self {
        field(name, path, codec, meaning, isWritten: { $0 != omitted })
    }

    /// Declares an optional value; nil is not written.
    public static func optional<Value>(
        _ name: String, _ path: Path<Value?>, _ codec: ValueCodec<Value>, _ meaning: String = ""
    ) -> Self {
        let codec = ValueCodec<Value?>(
            codec.form, words: codec.words,
            reader: { json, name throws(InputError) in try codec.read(json, name) },
            writer: { value, json in if let value { codec.write(value, to: &json) } })
        return field(name, path, codec, meaning, isWritten: { $0 != nil })
    }

    /// Declares a value that the text must contain, except in a text of changes.
    public static func required<Value>(
        _ name: String, _ path: Path<Value>, _ codec: ValueCodec<Value>, _ meaning: String = ""
    ) -> Self {
        field(name, path, codec, meaning, isRequired: { $0 != .changes })
    }

    /// Declares a value that identifies the object. A text about a known object may omit this value, but not
    /// change it.
    public static func identity<Value: Equatable & Sendable>(
        _ name: String, _ path: Path<Value>, _ codec: ValueCodec<Value>, _ meaning: String = ""
    ) -> Self {
        field(
            name, path, codec, meaning, isRequired: { $0 == .whole },
            isAllowed: { value, known, reading in reading == .whole || value == known })
    }

    private static func field<Value>(
        _ name: String, _ path: Path<Value>, _ codec: ValueCodec<Value>, _ meaning: String,
        isRequired: @escaping @Sendable (ObjectReading) -> Bool = { _ in false },
        isWritten: @escaping @Sendable (Value) -> Bool = { _ in true },
        isAllowed: @escaping @Sendable (_ value: Value, _ known: Value, ObjectReading) -> Bool = { _, _, _ in true }
    ) -> Self {
        Self(
            help: [MemberHelp(name: name, form: codec.form, words: codec.words, meaning: meaning)],
            read: { members, reading, object throws(InputError) in
                guard let json = members[name] else {
                    if isRequired(reading) { throw members.missing(name) }
                    return
                }
                let value = try codec.read(json, name)
                guard isAllowed(value, object[keyPath: path], reading) else {
                    throw members.error(name, "must be the same as in the URL")
                }
                object[keyPath: path] = value
            },
            write: { object, json in
                let value = object[keyPath: path]
                guard isWritten(value) else { return }
                json.key(name)
                codec.write(value, to: &json)
            })
    }
}

extension ObjectField {
    /// Declares a list whose elements are added to the object one by one.
    ///
    /// - Parameters:
    ///   - read: adds one element. An error without a position receives the element's position.
    ///   - elements: returns all elements of the object.
    public static func list<Element>(
        _ name: String, _ meaning: String = "",
        read: @escaping @Sendable (JSONValue, inout Object) throws(InputError) -> Void,
        elements: @escaping @Sendable (Object) -> [Element],
        write: @escaping @Sendable (Element, inout JSONWriter) -> Void
    ) -> Self {
        Self(
            help: [MemberHelp(name: name, form: "a list", words: [], meaning: meaning)],
            read: { members, _, object throws(InputError) in
                try members[name]?.forEachElement(name) { json throws(InputError) in
                    do throws(InputError) {
                        try read(json, &object)
                    } catch {
                        throw error.at(json)
                    }
                }
            },
            write: { object, json in
                json.key(name)
                json.array(elements(object)) { write($1, &$0) }
            })
    }

    /// Declares several members that form one property.
    ///
    /// - Parameters:
    ///   - codec: the codec of these members.
    ///   - isRequired: whether the codec's required members are required even if the text has no member of the group.
    ///     Has no effect on a text of changes.
    ///   - set: stores the property in the object. Called only if the text has, or must have, members of the group.
    public static func group<Part>(
        _ codec: ObjectCodec<Part>, isRequired: Bool = false, get: @escaping @Sendable (Object) -> Part,
        set: @escaping @Sendable (Part, ObjectMembers, inout Object) throws(InputError) -> Void
    ) -> Self {
        let help = codec.help
        return Self(
            help: help,
            read: { members, reading, object throws(InputError) in
                guard isRequired && reading != .changes || help.contains(where: { members[$0.name] != nil }) else {
                    return
                }
                try set(try codec.read(members), members, &object)
            }, write: { object, json in codec.writeMembers(get(object), to: &json) })
    }

    /// Declares several members that form one optional property. A text without any of the members leaves the property
    /// unchanged.
    ///
    /// - Parameter codec: the codec of these members.
    public static func optionalGroup<Part>(_ path: Path<Part?>, _ codec: ObjectCodec<Part>) -> Self {
        let help = codec.help
        return Self(
            help: help,
            read: { members, _, object throws(InputError) in
                guard help.contains(where: { members[$0.name] != nil }) else { return }
                object[keyPath: path] = try codec.read(members)
            },
            write: { object, json in
                if let part = object[keyPath: path] { codec.writeMembers(part, to: &json) }
            })
    }
}
