import JSON

/// An index of the children of large containers that JSON pointers have passed, so that later pointers need no search.
struct KnownChildren {
    private var members: [SchemaNode: [ExactText: Int]] = [:]
    private var elements: [SchemaNode: [Int]] = [:]

    /// Maximum number of children of a container without an index. Such a container is searched each time.
    private static let searchedMax = 16

    /// Returns the child that a reference token names; nil if it is missing. `place` is the container's node.
    mutating func child(_ token: Substring, of container: JSONValue, at place: SchemaNode) -> JSONValue? {
        guard container.count > Self.searchedMax else { return container.child(token) }
        let index: Int?
        switch container.kind {
        case .object:
            if members[place] == nil {
                members[place] = Dictionary(
                    container.members.map { (ExactText($0.key.string ?? ""), $0.value.index) },
                    uniquingKeysWith: { first, _ in first })
            }
            index = JSONValue.memberKey(token).flatMap { members[place]?[ExactText($0)] }
        default:
            if elements[place] == nil { elements[place] = container.elements.map(\.index) }
            let position = JSONValue.elementPosition(token).flatMap { $0 < container.count ? $0 : nil }
            index = position.flatMap { elements[place]?[$0] }
        }
        return index.map { JSONValue(tape: container.tape, index: $0) }
    }
}
