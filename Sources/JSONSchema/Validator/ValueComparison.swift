import JSON

/// The comparison of two values for equality. Numbers are compared by value, and objects in any order. The comparison
/// needs no recursion, and reuses its memory.
final class ValueComparison {
    private var waiting: [(left: Int, right: Int)] = []
    /// The keys of the left object, sorted if it has more than `fewMax` members.
    private var leftKeys: [Int] = []
    private var rightKeys: [Int] = []

    /// Maximum number of members of an object whose keys are searched linearly.
    private static let fewMax = 16

    func isEqual(_ left: Int, of tape: JSONTapeView, _ right: Int, of other: JSONTapeView) -> Bool {
        guard Self.isAlike(left, tape, right, other) else { return false }
        guard tape.nodes[left].isContainer else { return true }
        waiting.removeAll(keepingCapacity: true)
        waiting.append((left, right))
        while let (left, right) = waiting.popLast() {
            guard pushChildren(left, tape, right, other) else { return false }
        }
        return true
    }

    /// Returns whether two scalars are equal, or two containers have the same kind and count.
    private static func isAlike(_ left: Int, _ tape: JSONTapeView, _ right: Int, _ other: JSONTapeView) -> Bool {
        let value = tape.nodes[left]
        let expected = other.nodes[right]
        guard value.kind == expected.kind else { return false }
        switch value.kind {
        case .null: return true
        case .boolean, .array, .object: return value.count == expected.count
        case .number: return tape.number(at: left) == other.number(at: right)
        case .string: return isSameText(left, tape, right, other)
        }
    }

    private static func isSameText(_ left: Int, _ tape: JSONTapeView, _ right: Int, _ other: JSONTapeView) -> Bool {
        tape.text(of: left).isSame(as: other.text(of: right))
    }

    /// Returns whether the children of two containers are equal. Queues nested containers for a later comparison.
    private func pushChildren(_ left: Int, _ tape: JSONTapeView, _ right: Int, _ other: JSONTapeView) -> Bool {
        let isObject = tape.nodes[left].kind == .object
        var child = left + 1
        var otherChild = right + 1
        while child < Int(tape.nodes[left].link) {
            if isObject {
                guard Self.isSameText(child, tape, otherChild, other) else {
                    return pushMembers(left, tape, right, other)
                }
                child += 1
                otherChild += 1
            }
            guard push(child, tape, otherChild, other) else { return false }
            child = tape.next(after: child)
            otherChild = other.next(after: otherChild)
        }
        return true
    }

    private func push(_ left: Int, _ tape: JSONTapeView, _ right: Int, _ other: JSONTapeView) -> Bool {
        guard Self.isAlike(left, tape, right, other) else { return false }
        if tape.nodes[left].isContainer { waiting.append((left, right)) }
        return true
    }

    /// Returns whether two objects with different orders of keys have equal members. Queues nested containers for a
    /// later comparison.
    private func pushMembers(_ left: Int, _ tape: JSONTapeView, _ right: Int, _ other: JSONTapeView) -> Bool {
        Self.keys(of: left, tape, &leftKeys)
        Self.keys(of: right, other, &rightKeys)
        if leftKeys.count > Self.fewMax {
            leftKeys.sort { Self.isBefore(tape.text(of: $0), tape.text(of: $1)) }
            rightKeys.sort { Self.isBefore(other.text(of: $0), other.text(of: $1)) }
        }
        let isSorted = leftKeys.count > Self.fewMax
        for (position, key) in leftKeys.enumerated() {
            let found =
                isSorted ? rightKeys[position] : rightKeys.first { Self.isSameText(key, tape, $0, other) }
            guard let found, Self.isSameText(key, tape, found, other), push(key + 1, tape, found + 1, other) else {
                return false
            }
        }
        return true
    }

    private static func keys(of object: Int, _ tape: JSONTapeView, _ keys: inout [Int]) {
        keys.removeAll(keepingCapacity: true)
        var key = object + 1
        while key < Int(tape.nodes[object].link) {
            keys.append(key)
            key = tape.next(after: key + 1)
        }
    }

    private static func isBefore(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        left.count == right.count ? left.order(to: right) < 0 : left.count < right.count
    }
}
