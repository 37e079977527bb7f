/// Member names to be found together, in one pass over an object.
public struct JSONNames: Sendable {
    /// Maximum number of names. A key is compared with one name after another.
    public static let namesMax = 16
    /// Maximum length of a name. The fingerprint covers all bytes of such a name.
    public static let nameBytesMax = 16

    private let words: [KeyFingerprint]

    /// Creates the names to find.
    ///
    /// - Precondition: at most 16 names of at most 16 bytes.
    public init(_ names: [StaticString]) {
        precondition(names.count <= Self.namesMax && names.allSatisfy { $0.utf8CodeUnitCount <= Self.nameBytesMax })
        words = names.map { KeyFingerprint($0) }
    }

    /// Returns the members of `object` that have these names. A value that is not an object has no members.
    public func find(in object: JSONValue) -> JSONFoundMembers {
        var places = [16 of UInt32](repeating: 0)
        let tape = object.tape.view
        let node = tape.nodes[object.index]
        var key = object.index + 1
        let end = node.kind == .object ? Int(node.link) : key
        words.withUnsafeBufferPointer { names in
            while key < end {
                let found = tape.keyWords(of: key)
                for name in names.indices where names[name] == found {
                    places[name] = UInt32(truncatingIfNeeded: key + 1)
                    break
                }
                key = tape.next(after: key + 1)
            }
        }
        return JSONFoundMembers(object: object, places: places)
    }
}

/// The members that `JSONNames` found in an object. Valid until the parser reads the next text.
public struct JSONFoundMembers: ~Copyable {
    /// The value whose members were searched.
    public let object: JSONValue
    @usableFromInline let tape: JSONTapeView
    /// The node of each name's value. 0 marks a missing member, since node 0 is never a member's value.
    @usableFromInline let places: [16 of UInt32]

    fileprivate init(object: JSONValue, places: [16 of UInt32]) {
        self.object = object
        tape = object.tape.view
        self.places = places
    }

    /// The value of the name at `position` in `JSONNames`; nil if the member is missing. The view is valid while the
    /// found members live and until the parser reads the next text. Later use is not detected. The subscript is
    /// inlined, because a call would copy all found members.
    @inlinable public subscript(_ position: Int) -> JSONNodeView? {
        places[position] == 0 ? nil : JSONNodeView(tape, Int(places[position]))
    }

    /// Returns the value of the name at `position` as a `JSONValue`, whose validity is checked; nil if the member is
    /// missing.
    public func value(_ position: Int) -> JSONValue? {
        places[position] == 0 ? nil : object.value(at: Int(places[position]))
    }

    /// Returns the range of a member in the parsed bytes. The range extends from the first byte of the key to the last
    /// byte of the value. Returns nil if the member is missing.
    public func memberRange(_ position: Int) -> Range<Int>? {
        guard let value = value(position) else { return nil }
        return object.value(at: value.index - 1).sourceRange.lowerBound..<value.sourceRange.upperBound
    }
}
