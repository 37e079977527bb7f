import JSON

/// The description of the conditions under which a violated rule applies. Only conditions that compare members with
/// constants, or check the presence of members, are described.
struct ConditionText {
    let schema: CompiledSchema
    let instance: JSONTape
    /// The path to the invalid value.
    let way: JSONPointerWalk

    /// Maximum number of members in `properties`, and of names in `required`, of a described condition.
    private static let clausesMax = 3
    /// Maximum number of described conditions.
    private static let conditionsMax = 2
    /// Maximum number of members of an object in which members are searched.
    static let membersMax = 1000

    /// Returns a text such as `/push_type is "background"`; nil if no condition can be described.
    func reason(_ conditions: [FoundViolations.Condition]) -> String? {
        let holding = conditions.lazy.filter(\.holds).compactMap { description(of: $0) }.prefix(Self.conditionsMax)
        if !holding.isEmpty { return holding.reversed().joined(separator: " and ") }
        return conditions.lazy.filter { !$0.holds }.compactMap { description(of: $0) }.first
    }

    private func description(of condition: FoundViolations.Condition) -> String? {
        let test = schema.value(schema.locations[schema.codeLocations[condition.instruction]].place)
        let object = JSONValue(tape: instance, index: condition.node)
        guard test.kind == .object, object.kind == .object, object.count <= Self.membersMax else {
            return nil
        }
        var clauses: [String] = []
        for (key, rule) in test.members {
            switch key.string {
            case "properties":
                guard rule.count <= Self.clausesMax else { return nil }
                for (name, property) in rule.members {
                    guard let clause = description(name.string ?? "", property, object, condition) else { return nil }
                    clauses.append(clause)
                }
            case "required":
                guard rule.count <= Self.clausesMax else { return nil }
                let names = rule.elements.compactMap(\.string).filter { test["properties"]?[key: $0] == nil }
                clauses += names.map { "\(pointer(to: $0, object)) is \(object[key: $0] == nil ? "missing" : "given")" }
            case "type", "$comment", "title", "description": break
            default: return nil
            }
        }
        // A condition that does not hold is described only if it has one clause, which is then the false clause.
        guard condition.holds ? !clauses.isEmpty : clauses.count == 1 else { return nil }
        return clauses.joined(separator: " and ")
    }

    private func description(
        _ name: String, _ rule: JSONValue, _ object: JSONValue, _ condition: FoundViolations.Condition
    ) -> String? {
        guard rule.kind == .object, rule.members.allSatisfy({ ["const", "enum"].contains($0.key.string) }) else {
            return nil
        }
        let pointer = pointer(to: name, object)
        guard let value = object[key: name] else { return "\(pointer) is missing" }
        let verb = condition.holds ? "is" : "is not"
        if let constant = rule["const"] { return "\(pointer) \(verb) \(schema.quoted(constant))" }
        guard let constants = rule["enum"] else { return nil }
        let same = constants.elements.first { $0.string != nil && $0.string == value.string }
        if let same, condition.holds { return "\(pointer) is \(schema.quoted(same))" }
        return "\(pointer) \(verb) one of \(schema.quotedElements(constants))"
    }

    private func pointer(to name: String, _ object: JSONValue) -> String {
        "\(way.pointer(toOuter: object.index))/\(JSONValue.pointerToken(name))"
    }
}
