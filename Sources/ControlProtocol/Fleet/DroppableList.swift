/// A list of a message that is shortened if the message is too large.
struct DroppableList<Object>: Sendable {
    /// The name of the list in the message.
    let name: String
    let count: @Sendable (Object) -> Int
    /// Keeps the first elements and drops the others.
    let keep: @Sendable (inout Object, Int) -> Void

    static func list<Element>(_ name: String, _ path: any WritableKeyPath<Object, [Element]> & Sendable) -> Self {
        Self(
            name: name, count: { $0[keyPath: path].count },
            keep: { $0[keyPath: path].removeLast($0[keyPath: path].count - $1) })
    }

    /// Returns a property that is dropped as a whole, as a list of one element.
    static func optional<Part>(_ name: String, _ path: any WritableKeyPath<Object, Part?> & Sendable) -> Self {
        Self(
            name: name, count: { $0[keyPath: path] == nil ? 0 : 1 },
            keep: { if $1 == 0 { $0[keyPath: path] = nil } })
    }

    /// Returns the same list of an object that contains `Object`.
    func lifted<Whole>(to path: any WritableKeyPath<Whole, Object> & Sendable) -> DroppableList<Whole> {
        DroppableList<Whole>(
            name: name, count: { count($0[keyPath: path]) }, keep: { keep(&$0[keyPath: path], $1) })
    }

    /// Halves the first list until it is empty or the object fits, then the second list, and so on. Returns the numbers
    /// of dropped elements.
    static func shorten(_ object: inout Object, _ lists: [Self], until fits: (Object) -> Bool) -> [DroppedElements] {
        var dropped: [DroppedElements] = []
        for list in lists {
            let before = list.count(object)
            var count = before
            while count > 0, !fits(object) {
                count /= 2
                list.keep(&object, count)
            }
            if count < before { dropped.append(DroppedElements(list: list.name, count: before - count)) }
        }
        return dropped
    }
}
