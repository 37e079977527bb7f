import JSON

/// The registration of the schemas in a document, or in a part of a document, at its first use.
extension SchemaLibrary {
    /// Registers the schema at `root` and each schema inside it, without recursion.
    mutating func scan(
        _ root: SchemaNode, inside resource: Int?, base: URIReference
    ) throws(SchemaError) {
        var waiting: [(value: JSONValue, resource: Int?)] = [(value(root), resource)]
        while let (schema, outer) = waiting.popLast() {
            let place = place(schema, in: root.document)
            guard resourceOfSchema[place] == nil, schema.kind == .object || schema.kind == .boolean else {
                // The compiler reports values that are not schemas.
                if outer == nil { _ = try begin(schema, place, base: base, inside: nil) }
                continue
            }
            let resource = try identify(schema, place, inside: outer, base: base)
            resourceOfSchema[place] = resource
            guard schema.kind == .object else { continue }
            try noteAnchors(schema, place, resource)
            let dialect = resources[resource].dialect
            let isReference = dialect.ignoresSiblingsOfRef && schema["$ref"] != nil
            for (key, value) in schema.members {
                guard let keyword = key.string, let shape = SubschemaShape(keyword), dialect.knows(keyword),
                    !isReference || keyword == "definitions"
                else { continue }
                for subschema in shape.schemas(in: value) { waiting.append((subschema, resource)) }
            }
        }
    }

    /// Returns the resource of a schema. The resource is new if the schema is the root of a document or has an `$id`.
    /// Otherwise, the outer resource is returned. In draft-07, an `$id` beside `$ref`, or with a fragment only, is
    /// ignored.
    private mutating func identify(
        _ schema: JSONValue, _ place: SchemaNode, inside outer: Int?, base: URIReference
    ) throws(SchemaError) -> Int {
        if let outer, schema["$id"] == nil { return outer }
        let draft = try dialect(of: schema, place, default: outer.map { resources[$0].dialect }).draft
        let outerBase = outer.map { resources[$0].base } ?? base
        guard schema["$ref"] == nil || draft != .draft07, let id = schema["$id"] else {
            if let outer { return outer }
            return try begin(schema, place, base: outerBase, inside: nil)
        }
        guard let text = id.string else {
            throw error(.malformed, self.place(id, in: place.document), "$id must be a string")
        }
        let uri = URIReference(text)
        if draft == .draft07, uri.withoutFragment.description.isEmpty, let outer { return outer }
        let own = try absolute(uri.withoutFragment, base: outerBase, at: self.place(id, in: place.document))
        if draft != .draft07, uri.fragment.map({ !$0.isEmpty }) ?? false {
            throw error(
                .malformed, self.place(id, in: place.document), "$id must have no fragment; use $anchor"
            )
        }
        return try begin(schema, place, base: own.withoutFragment, inside: outer)
    }

    private mutating func begin(
        _ schema: JSONValue, _ place: SchemaNode, base: URIReference, inside outer: Int?
    ) throws(SchemaError) -> Int {
        let dialect = try dialect(of: schema, place, default: outer.map { resources[$0].dialect })
        let index = resources.count
        resources.append(SchemaResource(base: base, root: place, dialect: dialect))
        let name = ExactText(base.description)
        if let other = resourceOfURI[name] {
            guard resources[other].root.document != place.document else {
                throw error(.malformed, place, "duplicate schema URI \(base)")
            }
        } else {
            resourceOfURI[name] = index
        }
        resourceOfSchema[place] = index
        return index
    }
}
