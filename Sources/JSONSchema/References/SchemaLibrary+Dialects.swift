import JSON

/// How the keywords of a resource are to be read.
extension SchemaLibrary {
    /// How many meta-schemas may be described by one another.
    private static let metaSchemasMax = 8

    /// What a resource's keywords mean: as `$schema` says, else as around it.
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
        guard left > 0 else { throw error(.reference, place, "its meta-schemas describe each other without an end") }
        let meta: JSONValue
        do {
            meta = try document(uri, at: place).root
        } catch {
            guard error.code == .missing else { throw error }
            throw self.error(
                .unsupported, place,
                "\(text) is not a draft that is known here: those are \(SchemaDraft.names); a meta-schema of your own "
                    + "must be given as a resource")
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
                .unsupported, place, "the meta-schema \(text) requires the vocabulary \(error.uri), which is not known")
        }
    }
}
