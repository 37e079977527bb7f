/// The path from the root of a text to a value. The path can move to another value. Each step skips the earlier
/// siblings. A move to a later value does not skip the same siblings again.
package struct JSONPointerWalk {
    private let tape: JSONTape
    private var steps: [Step] = []

    private struct Step {
        var container: Int
        /// The element, or the key of the member, on the path.
        var child: Int
        /// The number of earlier children.
        var position = 0

        init(into container: Int) {
            self.container = container
            child = container + 1
        }
    }

    package init(_ tape: JSONTape) { self.tape = tape }

    /// Moves to a value, or to the member of a key. An index outside the text counts as the root.
    package mutating func go(to target: Int) {
        guard target > 0, target < tape.next(after: 0) else { return steps.removeAll() }
        while let last = steps.last, target <= last.container || target >= tape.next(after: last.container) {
            steps.removeLast()
        }
        var container = 0
        if let last = steps.last {
            container = last.container
            if target >= last.child { container = -1 } else { steps.removeLast() }
        }
        while true {
            if container >= 0 { steps.append(Step(into: container)) }
            container = Self.advance(&steps[steps.count - 1], to: target, of: tape)
            guard container < target else { return }
        }
    }

    /// Advances the step to the child that contains `target`. Returns the node of the child's value, or `target` if
    /// `target` is the child or its key.
    private static func advance(_ step: inout Step, to target: Int, of tape: JSONTape) -> Int {
        let keyCount = tape.nodes[step.container].kind == .object ? 1 : 0
        while true {
            let value = step.child + keyCount
            let after = tape.next(after: value)
            if target < after { return target == step.child ? target : value }
            step.child = after
            step.position += 1
        }
    }

    /// The array or object that contains the value; nil for the root.
    package var container: Int? { steps.last?.container }

    package var pointer: String { pointer(steps[...]) }

    /// Returns the pointer to an array or object on the path; the whole pointer if the container is not on the path.
    package func pointer(toOuter container: Int) -> String {
        pointer(steps[..<(steps.firstIndex { $0.container == container } ?? steps.count)])
    }

    private func pointer(_ steps: ArraySlice<Step>) -> String {
        steps.reduce(into: "") { pointer, step in
            let isObject = tape.nodes[step.container].kind == .object
            let token = isObject ? tape.view.string(at: step.child) : String(step.position)
            pointer += "/" + JSONValue.pointerToken(token)
        }
    }
}
