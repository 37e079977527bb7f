import JSON

/// A node of one of the documents that a schema is made of.
struct SchemaNode: Hashable, BitwiseCopyable {
    var document: Int32
    var node: Int32
}

/// A schema with an identity of its own: a document, or a part with an `$id`.
struct SchemaResource {
    /// What relative references inside are resolved against; without a fragment.
    var base: URIReference
    var root: SchemaNode
    var dialect: Dialect
    var anchors: [ExactText: SchemaNode] = [:]
    /// Those of the anchors that `$dynamicRef` may find; `$recursiveAnchor` is the one without a name.
    var dynamicAnchors: [ExactText: SchemaNode] = [:]
}

/// All documents that a schema refers to, as they are needed, and what is found in them by name.
struct SchemaLibrary {
    private let given: SchemaResources
    private let defaultDraft: SchemaDraft
    private(set) var documents: [JSONDocument] = []
    /// The URI under which each document was found.
    private(set) var documentURIs: [String] = []
    private(set) var resources: [SchemaResource] = []
    private var resourceOfURI: [ExactText: Int] = [:]
    /// The resource that each schema belongs to: of all schemas at places where a keyword wants one.
    private(set) var resourceOfSchema: [SchemaNode: Int] = [:]
    private var children = KnownChildren()

    /// Documents that one schema may bring together.
    static let documentsMax = 1000
    /// An `$id` inside of others makes a longer URI each time, if it ends in a slash.
    static let uriBytesMax = 4096

    init(given: SchemaResources, defaultDraft: SchemaDraft) {
        self.given = given
        self.defaultDraft = defaultDraft
    }

    func value(_ place: SchemaNode) -> JSONValue {
        JSONValue(tape: documents[Int(place.document)].root.tape, index: Int(place.node))
    }

    func place(_ value: JSONValue, in document: Int32) -> SchemaNode {
        SchemaNode(document: document, node: Int32(truncatingIfNeeded: value.index))
    }

    /// Takes a document in, and all schemas inside that have a name.
    mutating func add(_ document: JSONDocument, uri: URIReference) throws(SchemaError) -> SchemaNode {
        let root = SchemaNode(document: Int32(truncatingIfNeeded: documents.count), node: 0)
        documents.append(document)
        documentURIs.append(uri.description)
        try scan(root, inside: nil, base: uri)
        let name = ExactText(uri.description)
        if let resource = resourceOfSchema[root], resourceOfURI[name] == nil { resourceOfURI[name] = resource }
        return root
    }

    func error(_ code: SchemaError.Code, _ place: SchemaNode, _ message: String) -> SchemaError {
        SchemaError(
            code: code, pointer: value(place).pointer, message: message, uri: documentURIs[Int(place.document)])
    }
}

extension SchemaLibrary {
    struct Target {
        var place: SchemaNode
        /// The name of the dynamic anchor that the reference leads to.
        var dynamicAnchor: ExactText?
    }

    /// What a reference in a schema of `resource` leads to; `place` is where the reference stands.
    mutating func resolve(
        _ text: String, in resource: Int, at place: SchemaNode
    ) throws(SchemaError) -> Target {
        let uri = try absolute(URIReference(text), base: resources[resource].base, at: place)
        let target = try find(uri.withoutFragment, at: place)
        guard let fragment = URIReference.percentDecoded(uri.fragment ?? "") else {
            throw error(.reference, place, "the reference \(text) has a broken percent escape")
        }
        guard !fragment.isEmpty else { return Target(place: resources[target].root) }
        if fragment.utf8.first == UInt8(ascii: "/") {
            if let found = try follow(fragment, in: target) { return Target(place: found) }
        } else if let found = resources[target].anchors[ExactText(fragment)] {
            let isDynamic = resources[target].dynamicAnchors[ExactText(fragment)] != nil
            return Target(place: found, dynamicAnchor: isDynamic ? ExactText(fragment) : nil)
        }
        throw error(.reference, place, "the reference \(text) leads to nothing")
    }

    private func absolute(
        _ reference: URIReference, base: URIReference, at place: SchemaNode
    ) throws(SchemaError) -> URIReference {
        let uri = reference.resolved(against: base)
        guard uri.withoutFragment.description.utf8.count <= Self.uriBytesMax else {
            throw error(.unsupported, place, "makes a URI of more than \(Self.uriBytesMax) bytes")
        }
        return uri
    }

    /// The resource with a URI, its document being read where that is needed.
    private mutating func find(_ uri: URIReference, at place: SchemaNode) throws(SchemaError) -> Int {
        let name = ExactText(uri.description)
        if let resource = resourceOfURI[name] { return resource }
        let document = try document(uri, at: place)
        guard documents.count < Self.documentsMax else {
            throw error(.unsupported, place, "the schema brings more than \(Self.documentsMax) documents together")
        }
        let root = try add(document, uri: uri)
        // Every root was noted by the scan.
        return resourceOfURI[name] ?? resourceOfSchema[root] ?? 0
    }

    private func document(_ uri: URIReference, at place: SchemaNode) throws(SchemaError) -> JSONDocument {
        let name = uri.description
        do throws(SchemaFileError) {
            if let document = try given.document(name) ?? MetaSchemas.document(name) { return document }
        } catch {
            throw self.error(.resource, place, error.message)
        }
        throw error(.missing, place, "the schema refers to \(name), which was not given")
    }

    /// A JSON pointer from a resource's root on. What it leads to is a schema, though no keyword may stand there.
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

extension SchemaLibrary {
    /// Notes each schema from `root` on, without recursion.
    private mutating func scan(
        _ root: SchemaNode, inside resource: Int?, base: URIReference
    ) throws(SchemaError) {
        var waiting: [(value: JSONValue, resource: Int?)] = [(value(root), resource)]
        while let (schema, outer) = waiting.popLast() {
            let place = place(schema, in: root.document)
            guard resourceOfSchema[place] == nil, schema.kind == .object || schema.kind == .boolean else {
                // Whatever else stands here is told when it is compiled.
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

    /// The resource that a schema belongs to: a new one when it has an `$id`, or is the root of a document.
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
                .malformed, self.place(id, in: place.document), "$id must have no fragment; a name inside is an $anchor"
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
                throw error(.malformed, place, "there are two schemas with the URI \(base)")
            }
        } else {
            resourceOfURI[name] = index
        }
        resourceOfSchema[place] = index
        return index
    }

    private mutating func noteAnchors(
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
                "\(keyword) must be a name: a letter or _, then letters, digits, -, . and _")
        }
        return name
    }

    private mutating func note(_ name: String, _ place: SchemaNode, _ resource: Int) throws(SchemaError) {
        let other = resources[resource].anchors.updateValue(place, forKey: ExactText(name))
        guard let other, other != place else { return }
        throw error(.malformed, place, "there are two schemas with the anchor \(name)")
    }
}

extension SchemaLibrary {
    /// How many meta-schemas may be described by one another.
    private static let metaSchemasMax = 8

    /// What a resource's keywords mean: as `$schema` says, else as around it.
    private func dialect(
        of schema: JSONValue, _ place: SchemaNode, default outer: Dialect?
    ) throws(SchemaError) -> Dialect {
        guard schema.kind == .object, let name = schema["$schema"] else { return outer ?? Dialect(defaultDraft) }
        return try dialect(named: name, self.place(name, in: place.document), left: Self.metaSchemasMax)
    }

    private func dialect(
        named name: JSONValue, _ place: SchemaNode, left: Int
    ) throws(SchemaError) -> Dialect {
        guard let text = name.string else { throw error(.malformed, place, "$schema must be a string") }
        let uri = URIReference(text).withoutFragment
        if let draft = SchemaDraft(rawValue: uri.description) { return Dialect(draft) }
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

extension SchemaDraft {
    fileprivate static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension SubschemaShape {
    /// The schemas in a keyword's value; what is malformed is left to the compiler.
    fileprivate func schemas(in value: JSONValue) -> [JSONValue] {
        switch self {
        case .schema: [value]
        case .array: Array(value.elements)
        case .object: value.members.map(\.value)
        case .schemaOrArray: value.kind == .array ? Array(value.elements) : [value]
        case .objectWithArrays: value.members.map(\.value).filter { $0.kind != .array }
        }
    }
}
