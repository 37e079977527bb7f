import JSON

/// What a subschema demands of one value, in order; `end` closes it. Operands are indices into the compiled schema's
/// tables, or nodes of the schema's own tape.
enum Instruction {
    case end
    /// The schema `false`.
    case never

    case type(TypeSet)
    case constant(node: Int)
    case enumeration(Int)
    case minimum(NumberBound)
    case exclusiveMinimum(NumberBound)
    case maximum(NumberBound)
    case exclusiveMaximum(NumberBound)
    case multipleOf(node: Int)
    case minLength(Int)
    case maxLength(Int)
    case minItems(Int)
    case maxItems(Int)
    case minProperties(Int)
    case maxProperties(Int)
    case pattern(Int)

    case object(Int)
    case array(Int)
    case dependentRequired(Int)
    case call(Int)
    case anyOf(SchemaList)
    case oneOf(SchemaList)
    case not(Int)
    case conditional(Conditional)

    /// Whether it needs other schemas, and with them a frame to come back to.
    var isApplicator: Bool {
        switch self {
        case .object, .array, .dependentRequired, .call, .anyOf, .oneOf, .not, .conditional: true
        case .end, .never, .type, .constant, .enumeration, .minimum, .exclusiveMinimum, .maximum, .exclusiveMaximum,
            .multipleOf, .minLength, .maxLength, .minItems, .maxItems, .minProperties, .maxProperties, .pattern:
            false
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

/// The number at a node of the schema, and its value where that is a small whole one.
struct NumberBound {
    var node: Int
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
    /// Known names: required ones first, as bits of `required`, then the other properties.
    var names: KeyTable
    /// Index in `CompiledSchema.properties` of what the first name demands.
    var firstProperty: Int
    /// One bit for each required name.
    var required: UInt64
    /// Range of `CompiledSchema.patternProperties`.
    var firstPattern: Int
    var patternCount: Int
    /// The schema of members that neither `properties` nor `patternProperties` name.
    var additional: Int
    var forbidsAdditional: Bool
    var propertyNames: Int
    /// `CompiledSchema.locations` of the keywords.
    var requiredLocation: Int
    var additionalLocation: Int
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
}

struct DependentRule {
    var names: KeyTable
    /// Index in `CompiledSchema.dependents` of what the first name asks for: bits of other names.
    var first: Int
}

/// Strings by table, everything else by comparing.
struct Enumeration {
    var strings: KeyTable
    /// Range of `CompiledSchema.enumerated`: nodes of the schema's tape.
    var first: Int
    var count: Int
}

/// Open addressing over a power of two of `CompiledSchema.keys`.
struct KeyTable {
    var first: Int
    var mask: Int
    /// Bit n: some key has a length that is n modulo 64. Most keys that are not in the table end here.
    var lengths: UInt64
}

struct KeyEntry {
    var words: KeyFingerprint
    /// The key's string in the schema's tape.
    var node: Int
    /// Negative: the entry is free.
    var slot: Int
}
