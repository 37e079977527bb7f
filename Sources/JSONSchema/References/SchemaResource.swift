/// A node of one of a schema's documents.
struct SchemaNode: Hashable, BitwiseCopyable {
    var document: Int32
    var node: Int32
}

/// The root schema of a document, or a subschema with an `$id`.
struct SchemaResource {
    /// The base of relative references, without a fragment.
    var base: URIReference
    var root: SchemaNode
    var dialect: Dialect
    var anchors: [ExactText: SchemaNode] = [:]
    /// The anchors for `$dynamicRef`. `$recursiveAnchor` has the empty name.
    var dynamicAnchors: [ExactText: SchemaNode] = [:]
}
