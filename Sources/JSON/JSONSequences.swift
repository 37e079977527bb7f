/// The elements of an array, in order.
public struct JSONElements: Sequence {
    private let array: JSONValue

    init(_ value: JSONValue) { array = value }

    public func makeIterator() -> Iterator { Iterator(array) }

    public struct Iterator: IteratorProtocol {
        private let tape: JSONTape
        private var place: Int
        private let end: Int

        fileprivate init(_ array: JSONValue) {
            let node = array.node
            tape = array.tape
            place = array.index + 1
            end = node.kind == .array ? Int(node.link) : place
        }

        public mutating func next() -> JSONValue? {
            guard place < end else { return nil }
            let element = JSONValue(tape: tape, index: place)
            place = tape.next(after: place)
            return element
        }
    }
}

/// The members of an object, in the order of the text. A key is a string value with its own source range.
public struct JSONMembers: Sequence {
    private let object: JSONValue

    init(_ value: JSONValue) { object = value }

    public func makeIterator() -> Iterator { Iterator(object) }

    public struct Iterator: IteratorProtocol {
        private let tape: JSONTape
        private var place: Int
        private let end: Int

        fileprivate init(_ object: JSONValue) {
            let node = object.node
            tape = object.tape
            place = object.index + 1
            end = node.kind == .object ? Int(node.link) : place
        }

        public mutating func next() -> (key: JSONValue, value: JSONValue)? {
            guard place < end else { return nil }
            let member = (key: JSONValue(tape: tape, index: place), value: JSONValue(tape: tape, index: place + 1))
            place = tape.next(after: place + 1)
            return member
        }
    }
}
