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
