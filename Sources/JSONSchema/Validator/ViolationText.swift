import JSON

/// Puts a violation into words. What it tells is the schema's, not the value's.
struct ViolationText {
    let schema: CompiledSchema
    let instance: JSONTape

    /// Bytes of a value of the schema that are quoted.
    private static let quotedMax = 200

    func violation(_ found: FoundViolations.Violation) -> SchemaViolation {
        let location = schema.locations[found.location ?? schema.codeLocations[found.instruction]]
        let keyword =
            switch found.kind {
            case .stepsMax: "stepsMax"
            case .keyword, .required, .unknownProperty, .dependentRequired, .patternGaveUp, .circle: location.keyword
            }
        let pointer = value(location.place).pointer
        let suggestion = found.kind == .unknownProperty ? suggestion(found) : nil
        return SchemaViolation(
            instancePointer: instance.pointer(to: found.node), schemaPointer: pointer,
            schemaLocation: schema.documentURIs[Int(location.place.document)] + "#" + pointer,
            keyword: keyword, message: message(found, location, suggestion), nodeIndex: found.node,
            suggestion: suggestion)
    }

    private func value(_ place: SchemaNode) -> JSONValue {
        JSONValue(tape: schema.documents[Int(place.document)].root.tape, index: Int(place.node))
    }

    private func message(
        _ found: FoundViolations.Violation, _ location: CompiledSchema.Location, _ suggestion: String?
    ) -> String {
        switch found.kind {
        case .required:
            return "lacks the property \(name(found.names?.missing, found))"
        case .dependentRequired:
            return
                "lacks the property \(name(found.names?.missing, found)), which \(name(found.names?.because, found)) needs"
        case .unknownProperty:
            return "is not a known property" + (suggestion.map { "; did you mean \"\($0)\"?" } ?? "")
        case .patternGaveUp:
            return "could not be matched with its pattern in the steps that a match may take"
        case .stepsMax:
            return "takes more steps to check than a value may"
        case .circle:
            return "cannot be checked: the schema refers to itself for the same value"
        case .keyword:
            return message(schema.code[found.instruction], location)
        }
    }

    private func message(_ instruction: Instruction, _ location: CompiledSchema.Location) -> String {
        switch instruction {
        case .type: return "must be \(types(location.place))"
        case .constant(let place): return "must be \(quoted(place))"
        case .enumeration: return "must be one of \(elements(location.place))"
        case .minimum(let bound): return "must be at least \(quoted(bound.place))"
        case .exclusiveMinimum(let bound): return "must be more than \(quoted(bound.place))"
        case .maximum(let bound): return "must be at most \(quoted(bound.place))"
        case .exclusiveMaximum(let bound): return "must be less than \(quoted(bound.place))"
        case .multipleOf(let place): return "must be a multiple of \(quoted(place))"
        case .minLength(let limit): return "must have at least \(counted(limit, "character"))"
        case .maxLength(let limit): return "must have at most \(counted(limit, "character"))"
        case .minItems(let limit): return "must have at least \(counted(limit, "element"))"
        case .maxItems(let limit): return "must have at most \(counted(limit, "element"))"
        case .minProperties(let limit): return "must have at least \(counted(limit, "member"))"
        case .maxProperties(let limit): return "must have at most \(counted(limit, "member"))"
        case .pattern: return "must match the regular expression \(quoted(location.place))"
        case .never: return "is not allowed here"
        case .format(let format): return "must be of the format \(format.rawValue)"
        case .uniqueItems: return "must not have the same element twice"
        case .contains(let rule): return contained(schema.containments[rule], location)
        case .not: return "must not be what the schema excludes here"
        case .anyOf: return alternatives(location.place) ?? "matches none of the schema's alternatives"
        case .oneOf: return alternatives(location.place) ?? "must match exactly one of the schema's alternatives"
        case .end, .object, .array, .dependentRequired, .dependentSchemas, .call, .dynamicCall, .conditional,
            .unevaluatedProperties, .unevaluatedItems:
            return "is not as the schema wants it"
        }
    }

    private func contained(_ rule: ContainsRule, _ location: CompiledSchema.Location) -> String {
        let isTooMany = location.keyword == "maxContains"
        let limit = counted(isTooMany ? rule.countMax : rule.countMin, "element")
        return "must have at \(isTooMany ? "most" : "least") \(limit) as the schema describes for contains"
    }

    /// `[{"required": ["a"]}, {"required": ["b"]}]` can be told in plain words.
    private func alternatives(_ place: SchemaNode) -> String? {
        let list = value(place)
        var names: [String] = []
        for element in list.elements {
            guard element.count == 1, let required = element["required"], required.count == 1,
                let name = required.elements.first(where: { _ in true })?.string
            else { return nil }
            names.append("\"\(name)\"")
        }
        let only = list.pointer.hasSuffix("/oneOf") ? "exactly one" : "at least one"
        return "must have \(only) of \(names.joined(separator: ", "))"
    }

    private func types(_ place: SchemaNode) -> String {
        let value = value(place)
        let names = value.kind == .array ? value.elements.compactMap(\.string) : [value.string ?? ""]
        let phrases = names.map { name in
            switch name {
            case "integer": "a whole number"
            case "null": "null"
            case "array", "object": "an \(name)"
            default: "a \(name)"
            }
        }
        return phrases.joined(separator: " or ")
    }

    private func elements(_ place: SchemaNode) -> String {
        cut(value(place).elements.map { text($0) }.joined(separator: ", "))
    }

    private func quoted(_ place: SchemaNode) -> String { cut(text(value(place))) }

    private func text(_ value: JSONValue) -> String {
        String(decoding: value.tape.view.source(of: value.index), as: UTF8.self)
    }

    private func cut(_ text: String) -> String {
        guard text.utf8.count > Self.quotedMax else { return text }
        return String(decoding: text.utf8.prefix(Self.quotedMax), as: UTF8.self) + "…"
    }

    private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// A name of the rule's table, by its slot.
    private func name(_ slot: Int?, _ found: FoundViolations.Violation) -> String {
        names(of: schema.code[found.instruction]).first { $0.slot == slot }.map { quoted($0.place) } ?? ""
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

    private func suggestion(_ found: FoundViolations.Violation) -> String? {
        let unknown = instance.view.string(at: found.node)
        let known = names(of: schema.code[found.instruction]).prefix(Suggestion.candidatesMax).map {
            value($0.place).string ?? ""
        }
        return Suggestion.nearest(to: unknown, among: known)
    }
}
