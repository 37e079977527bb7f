/// Names of members that are looked for together, in one pass over an object.
public struct JSONNames: Sendable {
    /// All of them are compared with each key.
    public static let namesMax = 16
    /// So much of a name is told by its fingerprint.
    public static let nameBytesMax = 16

    private let words: [KeyFingerprint]

    /// - Precondition: at most 16 names of at most 16 bytes.
    public init(_ names: [StaticString]) {
        precondition(names.count <= Self.namesMax && names.allSatisfy { $0.utf8CodeUnitCount <= Self.nameBytesMax })
        words = names.map { KeyFingerprint($0) }
    }

    /// Where the members of these names are in an object; they are in no other value.
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

/// What `JSONNames` found in an object; as long of use as the object.
public struct JSONFoundMembers: ~Copyable {
    private let object: JSONValue
    @usableFromInline let tape: JSONTapeView
    /// The node of each name's value; 0 where there is none, since the first node is no member's.
    @usableFromInline let places: [16 of UInt32]

    fileprivate init(object: JSONValue, places: [16 of UInt32]) {
        self.object = object
        tape = object.tape.view
        self.places = places
    }

    /// The value of the name that stands at `position` in `JSONNames`: valid while this is kept and until the parser reads
    /// the next text, which nobody checks. Inlined, since all that was found would be copied for a call.
    @inlinable public subscript(_ position: Int) -> JSONNodeView? {
        places[position] == 0 ? nil : JSONNodeView(tape, Int(places[position]))
    }

    /// The same as a value to keep.
    public func value(_ position: Int) -> JSONValue? {
        places[position] == 0 ? nil : object.value(at: Int(places[position]))
    }
}
