/// The binding of each dynamic name to the subschema of the outermost active resource that has the name.
struct DynamicScope {
    private let anchors: UnsafePointer<DynamicAnchor>
    private let resources: UnsafePointer<ResourceAnchors>
    private var bindings: [Binding]
    /// The owner of `anchors` and `resources`, retained so that these pointers stay valid.
    private let schema: CompiledSchema

    private struct Binding {
        /// The depth of the frame that made the binding; -1 for an unbound name.
        var depth = -1
        var schema = anything
    }

    init(_ schema: CompiledSchema) {
        self.schema = schema
        anchors = schema.dynamicAnchors.start
        resources = schema.resources.start
        bindings = Array(repeating: Binding(), count: schema.dynamicNameCount)
    }

    var nameCount: Int { bindings.count }

    mutating func begin() {
        for name in bindings.indices { bindings[name] = Binding() }
    }

    mutating func enter(_ resource: Int, depth: Int) {
        guard !bindings.isEmpty else { return }
        let range = resources[resource]
        for index in range.first..<range.first + range.count where bindings[anchors[index].name].depth < 0 {
            bindings[anchors[index].name] = Binding(depth: depth, schema: anchors[index].schema)
        }
    }

    mutating func leave(depth: Int) {
        for name in bindings.indices where bindings[name].depth == depth { bindings[name].depth = -1 }
    }

    func target(of reference: DynamicReference) -> Int {
        let binding = bindings[reference.name]
        return binding.depth < 0 ? reference.fallback : binding.schema
    }
}

extension SchemaValidator {
    func callDynamically(_ reference: DynamicReference, _ frame: EvaluationFrame) -> EvaluationOutcome {
        let target = scope.target(of: reference)
        // Each round through the same subschema may bind another name. With more rounds than names, a round repeats an
        // earlier round, so the cycle would never end.
        var rounds = 0
        var below = depth - 1
        while below >= 0, frames[below].node == frame.node {
            rounds += frames[below].schema == target ? 1 : 0
            below -= 1
        }
        guard rounds <= scope.nameCount else {
            return fail(frame.node, instruction: frame.instruction, kind: .circle, isSpeculative: false)
        }
        return enter(target, frame.node, isSpeculative: frame.isSpeculative, marks: frame.tracks)
    }
}
