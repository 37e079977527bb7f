import JSON

/// The registration of the anchors of schemas.
extension SchemaLibrary {
    mutating func noteAnchors(
        _ schema: JSONValue, _ place: SchemaNode, _ resource: Int
    ) throws(SchemaError) {
        switch resources[resource].dialect.draft {
        case .draft07:
            guard schema["$ref"] == nil, let id = schema["$id"]?.string, let name = URIReference(id).fragment,
                !name.isEmpty, name.utf8.first != UInt8(ascii: "/")
            else { return }
            try note(name, place, resource)
        case .draft201909:
            if schema["$recursiveAnchor"]?.bool == true { resources[resource].dynamicAnchors[ExactText("")] = place }
            if let name = try anchor(schema, "$anchor", AnchorName.isOf201909, place.document) {
                try note(name, place, resource)
            }
        case .draft202012:
            if let name = try anchor(schema, "$anchor", AnchorName.isOf202012, place.document) {
                try note(name, place, resource)
            }
            if let name = try anchor(schema, "$dynamicAnchor", AnchorName.isOf202012, place.document) {
                try note(name, place, resource)
                resources[resource].dynamicAnchors[ExactText(name)] = place
            }
        }
    }

    private func anchor(
        _ schema: JSONValue, _ keyword: String, _ isName: (String) -> Bool, _ document: Int32
    ) throws(SchemaError) -> String? {
        guard let value = schema[key: keyword] else { return nil }
        guard let name = value.string, isName(name) else {
            throw error(
                .malformed, place(value, in: document),
                "\(keyword) must be a name, for example a letter followed by letters, digits, -, . and _")
        }
        return name
    }

    private mutating func note(_ name: String, _ place: SchemaNode, _ resource: Int) throws(SchemaError) {
        let other = resources[resource].anchors.updateValue(place, forKey: ExactText(name))
        guard let other, other != place else { return }
        throw error(.malformed, place, "duplicate anchor \(name)")
    }
}
