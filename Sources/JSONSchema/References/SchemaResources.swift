public import JSON

/// The documents that schemas may refer to. Documents are added by URI, or as a folder for all URIs with a prefix.
/// Nothing is fetched over a network.
public struct SchemaResources {
    private var documents: [ExactText: JSONDocument] = [:]
    private var folders: [(prefix: String, path: String)] = []
    private var limits: JSONLimits
    private let willOpen: (String) -> Void

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - limits: the limits of files in folders.
    ///   - willOpen: called with the path of each such file before the file is opened, even if it does not exist.
    public init(limits: JSONLimits = JSONLimits(), willOpen: @escaping (String) -> Void = { _ in }) {
        self.limits = limits
        self.willOpen = willOpen
    }

    /// Adds the document of `uri`, or replaces it. Ignores a fragment of `uri`.
    public mutating func add(uri: String, document: JSONDocument) {
        documents[ExactText(URIReference(uri).withoutFragment.description)] = document
    }

    /// Adds a document unless the URI already has one.
    public mutating func addUnlessGiven(uri: String, document: JSONDocument) {
        let name = ExactText(URIReference(uri).withoutFragment.description)
        if documents[name] == nil { documents[name] = document }
    }

    /// Adds a folder for URIs that begin with `prefix`. The rest of the URI is the path below `folder`. A file is read
    /// when a schema refers to it. The first added folder that has the file wins. A prefix that ends with neither `/`
    /// nor `:` gets a final `/`.
    public mutating func add(prefix: String, folder: String) {
        folders.append((prefix.hasSuffix("/") || prefix.hasSuffix(":") ? prefix : prefix + "/", folder))
    }

    /// Returns the added document of a URI, or reads the URI's file in a folder; nil if neither exists.
    func document(_ uri: String) throws(SchemaFileError) -> JSONDocument? {
        if let document = documents[ExactText(uri)] { return document }
        for (prefix, folder) in folders where uri.utf8.starts(with: prefix.utf8) {
            let name = String(Substring(uri.utf8.dropFirst(prefix.utf8.count)))
            guard let file = SchemaFile(folder: folder, name: name) else { continue }
            willOpen(file.path)
            if let document = try file.document(limits: limits) { return document }
        }
        return nil
    }
}
