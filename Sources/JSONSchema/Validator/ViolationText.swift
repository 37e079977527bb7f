import JSON
import Text

/// The messages of violations. They quote the schema. Of the value, they contain only member names, and constants
/// that the schema also has.
struct ViolationText {
    private let schema: CompiledSchema
    private let instance: JSONTape
    private var way: JSONPointerWalk

    init(schema: CompiledSchema, instance: JSONTape) {
        self.schema = schema
        self.instance = instance
        way = JSONPointerWalk(instance)
    }

    /// Returns the violations with their messages, in the same order.
    mutating func violations(_ found: [FoundViolations.Violation]) -> [SchemaViolation] {
        // In the order of the text, the walk from one position to the next is short.
        let places = found.indices.sorted { found[$0].node < found[$1].node }
        var violations = [SchemaViolation?](repeating: nil, count: found.count)
        for index in places { violations[index] = violation(found[index]) }
        return violations.compactMap(\.self)
    }

    private mutating func violation(_ found: FoundViolations.Violation) -> SchemaViolation {
        let location = schema.locations[found.location ?? schema.codeLocations[found.instruction]]
        let keyword =
            switch found.kind {
            case .stepsMax: "stepsMax"
            case .keyword, .required, .unknownProperty, .dependentRequired, .patternGaveUp, .circle: location.keyword
            }
        let pointer = schema.value(location.place).pointer
        let suggestion = suggestion(found, location)
        way.go(to: found.node)
        let reason = ConditionText(schema: schema, instance: instance, way: way).reason(found.conditions)
        return SchemaViolation(
            instancePointer: way.pointer, schemaPointer: pointer,
            schemaLocation: schema.documentURIs[Int(location.place.document)] + "#" + pointer,
            keyword: keyword, message: message(found, location, suggestion) + (reason.map { ", because \($0)" } ?? ""),
            nodeIndex: found.node, suggestion: suggestion?.text)
    }

    private func message(
        _ found: FoundViolations.Violation, _ location: CompiledSchema.Location, _ suggestion: SuggestedValue?
    ) -> String {
        switch found.kind {
        case .required:
            return "lacks the property \(name(found.names?.missing, found))"
        case .dependentRequired:
            return
                "lacks the property \(name(found.names?.missing, found)), which \(name(found.names?.because, found)) needs"
        case .unknownProperty:
            return "is not a known property" + (suggestion.map { " (did you mean \($0.shown)?)" } ?? "")
        case .patternGaveUp:
            return "exceeds the limit for pattern matching"
        case .stepsMax:
            return "exceeds the limit for validation steps"
        case .circle:
            return "cannot be checked: the schema refers to itself for the same value"
        case .keyword:
            return message(found, location)
                + (suggestion.map { " (did you mean \($0.shown)?)" } ?? note(found, location))
        }
    }

    private func message(_ found: FoundViolations.Violation, _ location: CompiledSchema.Location) -> String {
        switch schema.code[found.instruction] {
        case .type: return "must be \(types(location.place))"
        case .constant(let place): return "must be \(schema.quoted(place))"
        case .enumeration: return "must be one of \(schema.quotedElements(location.place))"
        case .minimum(let bound): return "must be at least \(schema.quoted(bound.place))"
        case .exclusiveMinimum(let bound): return "must be more than \(schema.quoted(bound.place))"
        case .maximum(let bound): return "must be at most \(schema.quoted(bound.place))"
        case .exclusiveMaximum(let bound): return "must be less than \(schema.quoted(bound.place))"
        case .multipleOf(let place): return "must be a multiple of \(schema.quoted(place))"
        case .minLength(let limit): return "must have at least \(counted(limit, "character"))"
        case .maxLength(let limit): return "must have at most \(counted(limit, "character"))"
        case .minItems(let limit): return "must have at least \(counted(limit, "element"))"
        case .maxItems(let limit): return "must have at most \(counted(limit, "element"))"
        case .minProperties(let limit): return "must have at least \(counted(limit, "member"))"
        case .maxProperties(let limit): return "must have at most \(counted(limit, "member"))"
        case .pattern: return "must match the regular expression \(schema.quotedText(location.place))"
        case .never: return "is not allowed here"
        case .format(let format): return "must be of the format \(format.rawValue)"
        case .uniqueItems: return "must not have the same element twice"
        case .contains(let rule): return contained(schema.containments[rule], location)
        case .not: return "must not \(excluded(schema.value(location.place)) ?? "match the schema of not")"
        case .anyOf(let list), .oneOf(let list):
            return required(location.place, found.node) ?? constants(location.place, found) ?? types(list, found.node)
                ?? choices(found) ?? alternatives(location, found)
        case .end, .object, .array, .dependentRequired, .dependentSchemas, .call, .dynamicCall, .conditional,
            .unevaluatedProperties, .unevaluatedItems:
            return "does not match the schema"
        }
    }

    /// Returns the schema's description of a scalar value, which may name a unit or format. Returns an empty text
    /// without a description, or for other violations.
    private func note(_ found: FoundViolations.Violation, _ location: CompiledSchema.Location) -> String {
        switch schema.code[found.instruction] {
        case .pattern, .format, .minimum, .exclusiveMinimum, .maximum, .exclusiveMaximum, .multipleOf, .minLength,
            .maxLength:
            break
        case .type(let types) where types.isDisjoint(with: [.array, .object]): break
        default: return ""
        }
        return schema.firstSentence(about: location.place).map { " (\($0))" } ?? ""
    }

    private func contained(_ rule: ContainsRule, _ location: CompiledSchema.Location) -> String {
        let isTooMany = location.keyword == "maxContains"
        let limit = counted(isTooMany ? rule.countMax : rule.countMin, "element")
        return "must have at \(isTooMany ? "most" : "least") \(limit) matching the schema of contains"
    }

    /// Returns the text after "must not" for a negation of one plain rule; nil for other negations.
    private func excluded(_ value: JSONValue) -> String? {
        guard value.count == 1, let (key, rule) = value.members.first(where: { _ in true }) else { return nil }
        switch key.string {
        case "required":
            let names = rule.elements.map { schema.quoted($0) }
            switch names.count {
            case 0: return nil
            case 1: return "have the property \(names[0])"
            case 2: return "have both \(names[0]) and \(names[1])"
            default: return "have \(names.dropLast().joined(separator: ", ")) and \(names[names.count - 1]) together"
            }
        case "const": return "be \(schema.quoted(rule))"
        case "enum": return "be one of \(schema.quotedElements(rule))"
        case "type": return "be \(types(rule))"
        default: return nil
        }
    }

    /// Describes alternatives such as `[{"required": ["a"]}, {"required": ["b"]}]`. Returns nil for other alternatives.
    private func required(_ place: SchemaNode, _ node: Int) -> String? {
        let list = schema.value(place)
        guard list.count <= Self.namesMax else { return nil }
        let object = JSONValue(tape: instance, index: node)
        var names: [String] = []
        var presentCount = 0
        for element in list.elements {
            guard element.count == 1, let required = element["required"], required.count == 1,
                let name = required.elements.first(where: { _ in true })?.string
            else { return nil }
            names.append("\"\(name)\"")
            if object.count <= ConditionText.membersMax, object[key: name] != nil { presentCount += 1 }
        }
        let only = list.pointer.hasSuffix("/oneOf") ? "exactly one" : "at least one"
        let present = presentCount < 2 ? "" : presentCount == 2 ? ", and has both" : ", and has \(presentCount)"
        return "must have \(only) of \(names.joined(separator: ", "))\(present)"
    }

    /// Describes alternatives such as `[{"const": 1, "title": "One"}, {"const": 2}]` as an enumeration. Returns nil for
    /// other alternatives.
    private func constants(_ place: SchemaNode, _ found: FoundViolations.Violation) -> String? {
        let list = schema.value(place)
        guard !found.holdsTooOften, list.count <= Self.namesMax else { return nil }
        let constants = list.elements.compactMap { element in
            element.members.allSatisfy { ["const", "title", "description", "$comment"].contains($0.key.string) }
                ? element["const"].map { schema.quoted($0) } : nil
        }
        return constants.count == list.count ? "must be one of \(constants.joined(separator: ", "))" : nil
    }

    private func choices(_ found: FoundViolations.Violation) -> String? {
        guard !found.choices.isEmpty else { return nil }
        let messages = found.choices.map { choice in
            message(choice, schema.locations[choice.location ?? schema.codeLocations[choice.instruction]], nil)
        }
        return messages.joined(separator: ", or ")
    }

    private func alternatives(_ location: CompiledSchema.Location, _ found: FoundViolations.Violation) -> String {
        let titles = titles(location.place)
        guard location.keyword == "oneOf" else { return "matches none of the schema's alternatives\(titles)" }
        return found.holdsTooOften
            ? "matches more than one of the schema's alternatives, where exactly one must hold\(titles)"
            : "must match exactly one of the schema's alternatives\(titles)"
    }

    /// Describes the accepted types if no alternative accepts the value's type; otherwise returns nil.
    private func types(_ list: SchemaList, _ node: Int) -> String? {
        var accepted = AcceptedTypes(schema)
        let types = accepted.of(list)
        guard !types.isEmpty, types.isDisjoint(with: TypeSet(instance.view.nodes[node].kind)) else { return nil }
        return "must be \(phrase(types.names))"
    }

    private func types(_ place: SchemaNode) -> String { types(schema.value(place)) }

    private func types(_ value: JSONValue) -> String {
        phrase(value.kind == .array ? value.elements.compactMap(\.string) : [value.string ?? ""])
    }

    private func phrase(_ types: [String]) -> String {
        let phrases = types.map { name in
            switch name {
            case "integer": "a whole number"
            case "null": "null"
            case "array", "object": "an \(name)"
            default: "a \(name)"
            }
        }
        guard phrases.count > 2 else { return phrases.joined(separator: " or ") }
        return "\(phrases.dropLast().joined(separator: ", ")) or \(phrases[phrases.count - 1])"
    }

    /// Returns the titles of at most `namesMax` alternatives if each has a title. Otherwise, returns an empty text.
    private func titles(_ place: SchemaNode) -> String {
        let list = schema.value(place)
        guard list.count <= Self.namesMax else { return "" }
        let titles = list.elements.compactMap { $0["title"].map { schema.quoted($0) } }
        return titles.count == list.count ? " (\(titles.joined(separator: ", ")))" : ""
    }

    /// Maximum number of alternatives that are listed.
    private static let namesMax = 16

    private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// Returns the name with this slot in the rule's table, in quotes; an empty text if no name has the slot.
    private func name(_ slot: Int?, _ found: FoundViolations.Violation) -> String {
        names(of: schema.code[found.instruction]).first { $0.slot == slot }.map { schema.quoted($0.place) } ?? ""
    }

    private func names(of instruction: Instruction) -> [KeyEntry] {
        let table: KeyTable
        switch instruction {
        case .object(let rule): table = schema.objects[rule].names
        case .dependentRequired(let rule): table = schema.dependentRules[rule].names
        default: return []
        }
        return (table.first...table.first + table.mask).map { schema.keys[$0] }.filter { $0.slot >= 0 }
    }

    private func suggestion(
        _ found: FoundViolations.Violation, _ location: CompiledSchema.Location
    ) -> SuggestedValue? {
        switch (found.kind, schema.code[found.instruction]) {
        case (.unknownProperty, let instruction):
            let known = names(of: instruction).prefix(Suggestion.candidatesMax).map {
                schema.value($0.place).string ?? ""
            }
            return Suggestion.nearest(to: instance.view.string(at: found.node), among: known).map { .text($0) }
        case (.keyword, .enumeration):
            return text(found).flatMap { SuggestedValue($0, among: schema.value(location.place)) }
        case (.keyword, .type(let types)) where types.contains(.boolean):
            return text(found).flatMap { SuggestedValue(boolean: $0) }
        default:
            return nil
        }
    }

    /// Returns the value if it is a text that is short enough for a suggestion; otherwise nil.
    private func text(_ found: FoundViolations.Violation) -> String? {
        let value = JSONValue(tape: instance, index: found.node)
        guard value.kind == .string, value.sourceRange.count <= Suggestion.bytesMax else { return nil }
        return value.string
    }
}

extension TypeSet {
    /// The names that schemas use for the types. `number` includes `integer`.
    fileprivate var names: [String] {
        let known: [(TypeSet, String)] = [
            (.string, "string"), (.number, "number"), (.integer, "integer"), (.boolean, "boolean"), (.array, "array"),
            (.object, "object"), (.null, "null"),
        ]
        return known.filter { contains($0.0) && !($0.1 == "integer" && contains(.number)) }.map(\.1)
    }
}
