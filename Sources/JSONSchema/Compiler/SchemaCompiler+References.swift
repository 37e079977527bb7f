import JSON

/// The compilation of the names of dynamic references, and of the anchors of each resource.
extension SchemaCompiler {
    /// Returns the number of the name by which a reference is resolved at run time. Assigns a number to a new name.
    /// Returns nil for a reference that was resolved at compile time.
    mutating func dynamicName(_ keyword: String, _ target: SchemaLibrary.Target) -> Int? {
        let name: ExactText?
        switch keyword {
        case "$dynamicRef": name = target.dynamicAnchor
        case "$recursiveRef":
            let resource = library.resourceOfSchema[target.place]
            let anchor = resource.flatMap { library.resources[$0].dynamicAnchors[ExactText("")] }
            name = anchor == target.place ? ExactText("") : nil
        default: name = nil
        }
        guard let name else { return nil }
        if let number = dynamicNames[name] { return number }
        dynamicNames[name] = dynamicNames.count
        return dynamicNames.count - 1
    }

    /// Fills `dynamicAnchors` with the anchors of the resources in use, if dynamic references use the names of the
    /// anchors. Queues new subschemas. Returns whether subschemas were added.
    mutating func compileDynamicAnchors() throws(SchemaError) -> Bool {
        let before = subschemas.count
        dynamicAnchors = []
        resourceAnchors = library.resources.map { _ in ResourceAnchors(first: 0, count: 0) }
        guard !dynamicNames.isEmpty else { return false }
        let inUse = Set(subschemas.map { Int($0.resource) })
        for resource in library.resources.indices where inUse.contains(resource) {
            let first = dynamicAnchors.count
            for (name, place) in library.resources[resource].dynamicAnchors {
                guard let number = dynamicNames[name] else { continue }
                let schema = try subschema(place, inside: resource, keyword: "$dynamicRef")
                dynamicAnchors.append(DynamicAnchor(name: number, schema: schema))
            }
            resourceAnchors[resource] = ResourceAnchors(first: first, count: dynamicAnchors.count - first)
        }
        return subschemas.count > before
    }
}
