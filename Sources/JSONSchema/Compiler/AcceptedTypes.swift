import JSON

/// The computation of the types that a schema can accept, from the schema's keywords about the value itself. The result
/// may include too many types, but never omits an accepted type.
struct AcceptedTypes {
    let schema: CompiledSchema
    /// Maximum nesting of references and alternatives that are followed.
    private static let depthMax = 8
    /// Maximum number of visited subschemas.
    private static let visitsMax = 200
    private var visitsLeft = visitsMax

    init(_ schema: CompiledSchema) { self.schema = schema }

    static let all: TypeSet = [.null, .boolean, .number, .string, .array, .object, .integer]

    mutating func of(_ list: SchemaList, depth: Int = 0) -> TypeSet {
        (list.first..<list.first + list.count).reduce(into: []) { $0.formUnion(of(schema.lists[$1], depth: depth)) }
    }

    mutating func of(_ subschema: Int, depth: Int = 0) -> TypeSet {
        guard subschema != anything, depth < Self.depthMax, visitsLeft > 0 else { return Self.all }
        visitsLeft -= 1
        var types = Self.all
        var instruction = Int(schema.subschemas[subschema].first)
        while true {
            switch schema.code[instruction] {
            case .end: return types
            case .never: return []
            case .type(let named): types.formIntersection(named.contains(.number) ? named.union(.integer) : named)
            case .constant(let place): types.formIntersection(type(place))
            case .enumeration(let index): types.formIntersection(of(schema.enumerations[index]))
            case .call(let target): types.formIntersection(of(target, depth: depth + 1))
            case .anyOf(let list), .oneOf(let list): types.formIntersection(of(list, depth: depth + 1))
            default: break
            }
            instruction += 1
        }
    }

    private func of(_ enumeration: Enumeration) -> TypeSet {
        var types: TypeSet = enumeration.strings.lengths != 0 ? .string : []
        if enumeration.numberCount > 0 { types.formUnion([.number, .integer]) }
        for index in enumeration.firstOther..<enumeration.firstOther + enumeration.otherCount {
            types.formUnion(type(schema.enumerated[index]))
        }
        return types
    }

    private func type(_ place: SchemaNode) -> TypeSet {
        TypeSet(schema.tapes[Int(place.document)].nodes[Int(place.node)].kind)
    }
}
