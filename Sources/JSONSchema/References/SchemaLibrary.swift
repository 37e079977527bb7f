import JSON

/// A schema's document and all documents that it refers to, loaded on demand, with their registered schemas.
struct SchemaLibrary {
    let given: SchemaResources
    let defaultDraft: SchemaDraft
    var documents: [JSONDocument] = []
    /// The URI of each document.
    var documentURIs: [String] = []
    var resources: [SchemaResource] = []
    var resourceOfURI: [ExactText: Int] = [:]
    /// The resource of each registered schema.
    var resourceOfSchema: [SchemaNode: Int] = [:]
    var children = KnownChildren()
    /// The dialects of custom meta-schemas.
    var dialects: [ExactText: Dialect] = [:]

    /// Maximum number of documents of one schema.
    static let documentsMax = 1000
    /// Maximum length of a resolved URI in bytes, without its fragment. Each nested `$id` that ends in a slash makes
    /// the URI longer.
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

    /// Adds a document and registers its schemas. Returns the document's root.
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
