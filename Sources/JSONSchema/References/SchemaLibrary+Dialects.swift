import JSON

/// The dialects of resources.
extension SchemaLibrary {
    /// Maximum length of a chain of meta-schemas.
    private static let metaSchemasMax = 8

    /// Returns the dialect that a resource names as `$schema`. Without `$schema`, returns the dialect of the outer
    /// resource, if any, or the default dialect.
    mutating func dialect(
        of schema: JSONValue, _ place: SchemaNode, default outer: Dialect?
    ) throws(SchemaError) -> Dialect {
        guard schema.kind == .object, let name = schema["$schema"] else { return outer ?? Dialect(defaultDraft) }
        return try dialect(named: name, self.place(name, in: place.document), left: Self.metaSchemasMax)
    }

    private mutating func dialect(
        named name: JSONValue, _ place: SchemaNode, left: Int
    ) throws(SchemaError) -> Dialect {
        guard let text = name.string else { throw error(.malformed, place, "$schema must be a string") }
        let uri = URIReference(text).withoutFragment
        if let draft = SchemaDraft(rawValue: uri.description) { return Dialect(draft) }
        if let known = dialects[ExactText(uri.description)] { return known }
        let described = try read(uri, text, place, left: left)
        dialects[ExactText(uri.description)] = described
        return described
    }

    private mutating func read(
        _ uri: URIReference, _ text: String, _ place: SchemaNode, left: Int
    ) throws(SchemaError) -> Dialect {
        guard left > 0 else {
            throw error(.reference, place, "the chain of meta-schemas is longer than \(Self.metaSchemasMax)")
        }
        let meta: JSONValue
        do {
            meta = try document(uri, at: place).root
        } catch {
            guard error.code == .missing else { throw error }
            throw self.error(
                .unsupported, place,
                "unsupported draft \(text); supported: \(SchemaDraft.names). Provide a custom meta-schema as a "
                    + "resource")
        }
        var described = Dialect(defaultDraft)
        if let above = meta["$schema"], above.string != text {
            described = try dialect(named: above, place, left: left - 1)
        }
        guard let vocabularies = meta["$vocabulary"], vocabularies.kind == .object else { return described }
        do {
            return try Dialect(
                vocabularies: vocabularies.members.map { ($0.key.string ?? "", $0.value.bool ?? false) },
                draft: described.draft)
        } catch {
            throw self.error(
                .unsupported, place, "the meta-schema \(text) requires the unknown vocabulary \(error.uri)")
        }
    }
}
