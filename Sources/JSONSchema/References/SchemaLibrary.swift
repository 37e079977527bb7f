import JSON

/// All documents that a schema refers to, as they are needed, and what is found in them by name.
struct SchemaLibrary {
    let given: SchemaResources
    let defaultDraft: SchemaDraft
    var documents: [JSONDocument] = []
    /// The URI under which each document was found.
    var documentURIs: [String] = []
    var resources: [SchemaResource] = []
    var resourceOfURI: [ExactText: Int] = [:]
    /// The resource that each schema belongs to: of all schemas at places where a keyword wants one.
    var resourceOfSchema: [SchemaNode: Int] = [:]
    var children = KnownChildren()
    /// What the meta-schemas that were asked for say.
    var dialects: [ExactText: Dialect] = [:]

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
