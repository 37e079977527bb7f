import JSON

/// The places of a configuration's secrets, which are in the text of the configuration or in files.
package struct SecretPlaces {
    private static let secretKeys: Set<String> = ["password", "passphrase", "private_key"]
    private static let fileKeys: Set<String> = ["key_file", "keys_file", "password_file"]
    private static let reference = "file:"

    /// Whether the text itself contains a password, a passphrase or a key.
    package private(set) var isInText = false
    /// Paths of secret files, absolute or relative to the folder of the configuration file.
    package private(set) var files: Set<String> = []

    init() {}

    /// Finds the secrets in the values of a configuration.
    ///
    /// - Parameter path: returns a path with its variables replaced; nil if a variable is not set.
    init(_ root: JSONValue, path: (String) -> String?) { visit(root, key: "", path) }

    private mutating func visit(_ value: JSONValue, key: String, _ path: (String) -> String?) {
        for (key, value) in value.members { visit(value, key: key.string ?? "", path) }
        for element in value.elements { visit(element, key: key, path) }
        guard let text = value.string, !text.isEmpty else { return }
        if text.hasPrefix(Self.reference) {
            if let file = path(String(text.dropFirst(Self.reference.count))) { files.insert(file) }
        } else if Self.fileKeys.contains(key) {
            if let file = path(text) { files.insert(file) }
        } else if Self.secretKeys.contains(key) || Self.hasPassword(url: text) {
            // The secret of a value with a variable is in the environment, not in the text.
            isInText = isInText || !text.contains("${")
        }
    }

    /// Returns whether a text is a URL that contains a password, such as `amqp://user:password@host`.
    private static func hasPassword(url text: String) -> Bool {
        guard let scheme = text.firstRange(of: "://") else { return false }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@") else { return false }
        return authority[..<at].contains(":")
    }
}
