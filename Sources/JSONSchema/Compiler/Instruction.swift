import JSON

/// One instruction of a compiled subschema. The instructions of a subschema run in order. The last is `end`. An operand
/// is a value (such as a limit), an index into the compiled schema's tables, or a node of its documents.
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
    /// A call of the subschema with the dynamic name of a `$dynamicRef` or `$recursiveRef`. The call uses the outermost
    /// resource of the dynamic scope that has this name.
    case dynamicCall(Int)
    case anyOf(SchemaList)
    case oneOf(SchemaList)
    case not(Int)
    case conditional(Conditional)
    /// The schema of the members that no earlier instruction has evaluated.
    case unevaluatedProperties(Int)
    /// The schema of the elements that no earlier instruction has evaluated.
    case unevaluatedItems(Int)

    var readsEvaluation: Bool {
        switch self {
        case .unevaluatedProperties, .unevaluatedItems: true
        default: false
        }
    }

    /// Whether the instruction needs a frame. Every instruction that applies other schemas needs a frame.
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
    /// Whether the instruction depends only on the value and its contents, and `SchemaValidator.holds` supports it.
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
    /// A number, whole or not.
    static let number = TypeSet(rawValue: 4)
    static let string = TypeSet(rawValue: 8)
    static let array = TypeSet(rawValue: 16)
    static let object = TypeSet(rawValue: 32)
    /// A number without a fraction, regardless of notation.
    static let integer = TypeSet(rawValue: 64)
}

extension TypeSet {
    init(_ kind: JSONKind) { self = kind == .number ? [.number, .integer] : TypeSet(rawValue: 1 << kind.rawValue) }
}

/// The node of a number in the schema, and the number itself if it is a whole 64-bit number.
struct NumberBound {
    var place: SchemaNode
    var small: Int64?
}

/// A range of `CompiledSchema.lists` with `count` indices of schemas.
struct SchemaList {
    var first: Int
    var count: Int
}

struct Conditional {
    var condition: Int
    var then: Int
    var otherwise: Int
}

/// The index of a schema that accepts every value.
let anything = -1

/// The checks of an object's members, made in one pass.
struct ObjectRule {
    /// The known names. The required names come first, then the other properties.
    var names: KeyTable
    var nameCount: Int
    /// The index in `CompiledSchema.properties` for the first name.
    var firstProperty: Int
    var requiredCount: Int
    /// The start of a range of `CompiledSchema.patternProperties` with `patternCount` elements.
    var firstPattern: Int
    var patternCount: Int
    /// The schema of members that match neither `properties` nor `patternProperties`; `anything` if such members are
    /// forbidden or unrestricted.
    var additional: Int
    /// Whether additional members have a schema, even one that accepts every value.
    var coversAll: Bool
    var forbidsAdditional: Bool
    var propertyNames: Int
    /// The index of `required` in `CompiledSchema.locations`.
    var requiredLocation: Int
    /// The index of `additionalProperties` in `CompiledSchema.locations`.
    var additionalLocation: Int

    /// Whether at most one schema applies to each member.
    var isPlain: Bool { patternCount == 0 && propertyNames == anything }
    /// Whether additional members are unrestricted.
    var isOpen: Bool { additional == anything && !forbidsAdditional }
}

struct Property {
    var schema: Int
    /// Whether `properties` has the name; false if only `required` has it.
    var isDeclared: Bool
}

struct PatternProperty {
    var pattern: Int
    var schema: Int
}

struct ArrayRule {
    var prefix: SchemaList
    /// The schema of the elements after the prefix.
    var items: Int
    /// Whether the elements after the prefix have a schema, even one that accepts every value.
    var coversAll: Bool
}

/// `contains` with `minContains` and `maxContains`.
struct ContainsRule {
    var schema: Int
    var countMin: Int
    var countMax: Int
    /// Whether matching elements count as evaluated.
    var evaluates: Bool
    /// The index of `minContains` in `CompiledSchema.locations`, or of `contains` if `minContains` is missing.
    var minLocation: Int
    /// The index of `maxContains` in `CompiledSchema.locations`.
    var maxLocation: Int
}

/// A `dependentRequired` or `dependentSchemas` rule.
struct DependentRule {
    /// The names with requirements, then the names that are only required.
    var names: KeyTable
    /// For the first name, the index of its required names in `CompiledSchema.needs`, or of its schema in `lists`.
    var first: Int
    /// The number of names with requirements.
    var count: Int
}

/// A range of `CompiledSchema.lists` with `count` slots of names.
struct NeededNames {
    var first: Int
    var count: Int
}

/// A `$dynamicRef` or `$recursiveRef`. `fallback` applies if no resource in the dynamic scope has the name.
struct DynamicReference {
    var name: Int
    var fallback: Int
}

/// The subschema of a resource for a dynamic name.
struct DynamicAnchor {
    var name: Int
    var schema: Int
}

/// The range of a resource's anchors in `CompiledSchema.dynamicAnchors`.
struct ResourceAnchors {
    var first: Int
    var count: Int
}

/// The values of an `enum`, with strings in a table, numbers in order, and other values for comparison.
struct Enumeration {
    var strings: KeyTable
    /// The start of a range of `CompiledSchema.enumeratedNumbers` in ascending order, with `numberCount` elements.
    var firstNumber: Int
    var numberCount: Int
    /// The start of a range of `CompiledSchema.enumerated` with `otherCount` elements.
    var firstOther: Int
    var otherCount: Int
}

/// A hash table with open addressing, in a range of `CompiledSchema.keys` whose size is a power of two.
struct KeyTable {
    var first: Int
    var mask: Int
    /// The key lengths modulo 64, as a bit set. A key whose bit is missing is not in the table.
    var lengths: UInt64
    /// Length of the longest key in bytes. Longer strings are not looked up.
    var longest: UInt32 = 0
}

struct KeyEntry {
    var words: KeyFingerprint
    /// The key's string on its schema's tape.
    var place: SchemaNode
    /// The slot of the key; negative for a free entry.
    var slot: Int
}
