import Text

/// The members of one JSON object, and errors about them.
public struct ObjectMembers {
    private let json: JSONValue
    /// The object's name in errors, such as `a device`.
    private let object: String

    /// Reads the members of `json`.
    ///
    /// - Parameter known: the names of the allowed members; nil allows any.
    /// - Throws: if `json` is not an object, or has an unknown member.
    init(_ json: JSONValue, of object: String, known: [String]?) throws(InputError) {
        guard json.kind == .object else { throw InputError("\(object) must be an object", node: json.nodeIndex) }
        (self.json, self.object) = (json, object)
        guard let known else { return }
        for (key, _) in json.members {
            let name = key.string ?? ""
            guard !known.contains(name) else { continue }
            throw InputError(
                "unknown member '\(name)' in \(object); known: \(known.joined(separator: ", "))"
                    + Suggestion.hint(for: name, among: known),
                node: key.nodeIndex)
        }
    }

    public subscript(name: String) -> JSONValue? { json[key: name] }

    /// Returns an error about a member, at the position of the object if the member is missing.
    public func error(_ name: String, _ predicate: String) -> InputError {
        InputError("\(name) \(predicate)", node: (json[key: name] ?? json).nodeIndex)
    }

    /// Returns an error about the whole object.
    public func error(_ sentence: String) -> InputError { InputError(sentence, node: json.nodeIndex) }

    func missing(_ name: String) -> InputError { error("\(name) is missing in \(object)") }
}
