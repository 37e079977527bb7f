public import JSON

/// Where the documents are that schemas refer to: each by its URI, or a folder for all below one. Nothing is ever
/// fetched over a network.
public struct SchemaResources {
    private var documents: [ExactText: JSONDocument] = [:]
    private var folders: [(prefix: String, path: String)] = []
    private var limits: JSONLimits
    private let willOpen: (String) -> Void

    /// - Parameters:
    ///   - limits: those of files in folders.
    ///   - willOpen: called with the path of each of these before it is opened, though it may not be there.
    public init(limits: JSONLimits = JSONLimits(), willOpen: @escaping (String) -> Void = { _ in }) {
        self.limits = limits
        self.willOpen = willOpen
    }

    /// References to `uri`, whose fragment does not count, lead to this document.
    public mutating func add(uri: String, document: JSONDocument) {
        documents[ExactText(URIReference(uri).withoutFragment.description)] = document
    }

    /// The same where no other document was given for it.
    public mutating func addUnlessGiven(uri: String, document: JSONDocument) {
        let name = ExactText(URIReference(uri).withoutFragment.description)
        if documents[name] == nil { documents[name] = document }
    }

    /// References to a URI that begins with `prefix` lead to the file below `folder` which the rest of the URI names;
    /// it is read when a schema refers to it. Of several folders that have such a file the first one added counts. A
    /// prefix ends with `/` (or with `:`); where it does not, one is added.
    public mutating func add(prefix: String, folder: String) {
        folders.append((prefix.hasSuffix("/") || prefix.hasSuffix(":") ? prefix : prefix + "/", folder))
    }

    /// nil when nobody has given it.
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
