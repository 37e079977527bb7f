import JSON

/// What a subschema demands of one value, in order; `end` closes it. Operands are indices into the compiled schema's
/// tables, or nodes of the schema's documents.
enum Instruction {
    case end
    /// The schema `false`.
    case never

    case type(TypeSet)
    case constant(SchemaNode)
    case enumeration(Int)
    case minimum(NumberBound)
    case exclusiveMinimum(NumberBound)
    case maximum(NumberBound)
    case exclusiveMaximum(NumberBound)
    case multipleOf(SchemaNode)
    case minLength(Int)
    case maxLength(Int)
    case minItems(Int)
    case maxItems(Int)
    case minProperties(Int)
    case maxProperties(Int)
    case pattern(Int)
    case format(Format)
    case uniqueItems

    case object(Int)
    case array(Int)
    case contains(Int)
    case dependentRequired(Int)
    case dependentSchemas(Int)
    case call(Int)
    /// `$dynamicRef`: what the outermost resource has under that name.
    case dynamicCall(Int)
    case anyOf(SchemaList)
    case oneOf(SchemaList)
    case not(Int)
    case conditional(Conditional)
    /// The schema of the members, or elements, that nothing before has evaluated.
    case unevaluatedProperties(Int)
    case unevaluatedItems(Int)

    var asksWhatIsEvaluated: Bool {
        switch self {
        case .unevaluatedProperties, .unevaluatedItems: true
        default: false
        }
    }

    /// Whether it needs other schemas, and with them a frame to come back to.
    var isApplicator: Bool {
        switch self {
        case .object, .array, .contains, .dependentRequired, .dependentSchemas, .call, .dynamicCall, .anyOf, .oneOf,
            .not, .conditional, .unevaluatedProperties, .unevaluatedItems:
            true
        case .end, .never, .type, .constant, .enumeration, .minimum, .exclusiveMinimum, .maximum, .exclusiveMaximum,
            .multipleOf, .minLength, .maxLength, .minItems, .maxItems, .minProperties, .maxProperties, .pattern,
            .format, .uniqueItems:
            false
        }
    }
}

extension Instruction {
    /// Looks at nothing but the value and what is inside it, and in a simple way.
    var isPlain: Bool {
        switch self {
        case .contains, .dependentSchemas, .dynamicCall, .unevaluatedProperties, .unevaluatedItems: false
        case .end, .never, .type, .constant, .enumeration, .minimum, .exclusiveMinimum, .maximum, .exclusiveMaximum,
            .multipleOf, .minLength, .maxLength, .minItems, .maxItems, .minProperties, .maxProperties, .pattern,
            .format,
            .uniqueItems, .object, .array, .dependentRequired, .call, .anyOf, .oneOf, .not, .conditional:
            true
        }
    }
}

struct TypeSet: OptionSet {
    let rawValue: UInt8

    static let null = TypeSet(rawValue: 1)
    static let boolean = TypeSet(rawValue: 2)
    /// Any number.
    static let number = TypeSet(rawValue: 4)
    static let string = TypeSet(rawValue: 8)
    static let array = TypeSet(rawValue: 16)
    static let object = TypeSet(rawValue: 32)
    /// A number without a fraction, however it is written.
    static let integer = TypeSet(rawValue: 64)
}

extension TypeSet {
    init(_ kind: JSONKind) { self = kind == .number ? [.number, .integer] : TypeSet(rawValue: 1 << kind.rawValue) }
}

/// A number at a node of the schema, and its value where that is a small whole one.
struct NumberBound {
    var place: SchemaNode
    var small: Int64?
}

/// `count` schemas whose indices stand in a row in `CompiledSchema.lists`.
struct SchemaList {
    var first: Int
    var count: Int
}

struct Conditional {
    var condition: Int
    var then: Int
    var otherwise: Int
}

/// A schema that accepts everything: nothing to check.
let anything = -1

/// What an object's members must be, checked in one pass over them.
struct ObjectRule {
    /// Known names: required ones first, then the other properties.
    var names: KeyTable
    var nameCount: Int
    /// Index in `CompiledSchema.properties` of what the first name demands.
    var firstProperty: Int
    var requiredCount: Int
    /// Range of `CompiledSchema.patternProperties`.
    var firstPattern: Int
    var patternCount: Int
    /// The schema of members that neither `properties` nor `patternProperties` name.
    var additional: Int
    /// There is a schema for these, if only one that accepts everything.
    var coversAll: Bool
    var forbidsAdditional: Bool
    var propertyNames: Int
    /// `CompiledSchema.locations` of the keywords.
    var requiredLocation: Int
    var additionalLocation: Int

    /// One schema at most for each member.
    var isPlain: Bool { patternCount == 0 && propertyNames == anything }
    /// Members that nothing names may be whatever they are.
    var isOpen: Bool { additional == anything && !forbidsAdditional }
}

struct Property {
    var schema: Int
    /// Named by `properties`, not by `required` alone.
    var isDeclared: Bool
}

struct PatternProperty {
    var pattern: Int
    var schema: Int
}

struct ArrayRule {
    var prefix: SchemaList
    /// The schema of what comes after the prefix.
    var items: Int
    /// There is a schema for what comes after the prefix, if only one that accepts everything.
    var coversAll: Bool
}

/// `contains` with `minContains` and `maxContains`.
struct ContainsRule {
    var schema: Int
    var countMin: Int
    var countMax: Int
    /// The elements that it finds count as evaluated.
    var evaluates: Bool
    /// `CompiledSchema.locations` of the keywords.
    var minLocation: Int
    var maxLocation: Int
}

/// `dependentRequired`, `dependentSchemas`.
struct DependentRule {
    /// The names that ask for something first, then those that are only asked for.
    var names: KeyTable
    /// What the first name asks for: in `CompiledSchema.needs` other names, or in `lists` a schema.
    var first: Int
    /// How many names ask for something.
    var count: Int
}

/// `count` slots of names in a row in `CompiledSchema.lists`.
struct NeededNames {
    var first: Int
    var count: Int
}

/// What `$dynamicRef` leads to where no resource on the way has the name: `fallback`.
struct DynamicReference {
    var name: Int
    var fallback: Int
}

/// A subschema that a resource offers for a name.
struct DynamicAnchor {
    var name: Int
    var schema: Int
}

/// Range of `CompiledSchema.dynamicAnchors` that a resource offers.
struct ResourceAnchors {
    var first: Int
    var count: Int
}

/// Strings by table, numbers by their order, everything else by comparing.
struct Enumeration {
    var strings: KeyTable
    /// Range of `CompiledSchema.enumeratedNumbers`, from the lowest on.
    var firstNumber: Int
    var numberCount: Int
    /// Range of `CompiledSchema.enumerated`.
    var firstOther: Int
    var otherCount: Int
}

/// Open addressing over a power of two of `CompiledSchema.keys`.
struct KeyTable {
    var first: Int
    var mask: Int
    /// Bit n: some key has a length that is n modulo 64. Most keys that are not in the table end here.
    var lengths: UInt64
    /// Bytes of the longest key: what is longer is not even read.
    var longest: UInt32 = 0
}

struct KeyEntry {
    var words: KeyFingerprint
    /// The key's string in its schema's tape.
    var place: SchemaNode
    /// Negative: the entry is free.
    var slot: Int
}
