/// The way from the root of a text to one value after the other. It is found from the root down, past the siblings
/// before each step; to a value further on, the siblings that were passed already are not passed again.
package struct JSONPointerWalk {
    private let tape: JSONTape
    private var steps: [Step] = []

    private struct Step {
        var container: Int
        /// The element, or the member's key, that leads on.
        var child: Int
        /// How many are before it.
        var position = 0

        init(into container: Int) {
            self.container = container
            child = container + 1
        }
    }

    package init(_ tape: JSONTape) { self.tape = tape }

    /// Goes to a value, or for a key to its member; to the root for what is not there.
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

    /// The child of the step's container in which `target` is; `target` itself when it is the child or its key.
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

    /// The array or object to which the value belongs; nil for the root.
    package var container: Int? { steps.last?.container }

    package var pointer: String { pointer(steps[...]) }

    /// The pointer to an array or object through which the way goes; else that to its end.
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
