import JSON

/// The resolution of references.
extension SchemaLibrary {
    struct Target {
        var place: SchemaNode
        /// The name of the target if it is a dynamic anchor; otherwise nil.
        var dynamicAnchor: ExactText?
    }

    /// Resolves a reference in a schema of `resource`. `place` is the position of the reference.
    mutating func resolve(
        _ text: String, in resource: Int, at place: SchemaNode
    ) throws(SchemaError) -> Target {
        let uri = try absolute(URIReference(text), base: resources[resource].base, at: place)
        let target = try find(uri.withoutFragment, at: place)
        guard let fragment = URIReference.percentDecoded(uri.fragment ?? "") else {
            throw error(.reference, place, "the reference \(text) has a malformed percent escape")
        }
        guard !fragment.isEmpty else { return Target(place: resources[target].root) }
        if fragment.utf8.first == UInt8(ascii: "/") {
            if let found = try follow(fragment, in: target) { return Target(place: found) }
        } else if let found = resources[target].anchors[ExactText(fragment)] {
            let isDynamic = resources[target].dynamicAnchors[ExactText(fragment)] != nil
            return Target(place: found, dynamicAnchor: isDynamic ? ExactText(fragment) : nil)
        }
        throw error(.reference, place, "the reference \(text) does not resolve")
    }

    func absolute(
        _ reference: URIReference, base: URIReference, at place: SchemaNode
    ) throws(SchemaError) -> URIReference {
        let uri = reference.resolved(against: base)
        guard uri.withoutFragment.description.utf8.count <= Self.uriBytesMax else {
            throw error(.unsupported, place, "the reference must resolve to a URI of at most \(Self.uriBytesMax) bytes")
        }
        return uri
    }

    /// Returns the resource with a URI. Loads and registers the resource's document if necessary.
    private mutating func find(_ uri: URIReference, at place: SchemaNode) throws(SchemaError) -> Int {
        let name = ExactText(uri.description)
        if let resource = resourceOfURI[name] { return resource }
        let document = try document(uri, at: place)
        guard documents.count < Self.documentsMax else {
            throw error(.unsupported, place, "the schema refers to more than \(Self.documentsMax) documents")
        }
        let root = try add(document, uri: uri)
        // `add` has registered the root, so the other values are not used.
        return resourceOfURI[name] ?? resourceOfSchema[root] ?? 0
    }

    func document(_ uri: URIReference, at place: SchemaNode) throws(SchemaError) -> JSONDocument {
        let name = uri.description
        do throws(SchemaFileError) {
            if let document = try given.document(name) ?? MetaSchemas.document(name) { return document }
        } catch {
            throw self.error(.resource, place, error.message)
        }
        throw error(.missing, place, "the schema refers to \(name), which was not given")
    }

    /// Follows a JSON pointer from a resource's root. The target is registered as a schema even if no keyword defines
    /// it. Returns nil if the pointer does not resolve.
    private mutating func follow(_ pointer: String, in resource: Int) throws(SchemaError) -> SchemaNode? {
        let document = resources[resource].root.document
        var value = value(resources[resource].root)
        var inside = resource
        for token in pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let child = children.child(Substring(token), of: value, at: place(value, in: document)) else {
                return nil
            }
            value = child
            inside = resourceOfSchema[place(value, in: document)] ?? inside
        }
        let target = place(value, in: document)
        if resourceOfSchema[target] == nil { try scan(target, inside: inside, base: resources[inside].base) }
        return target
    }
}
