/// JSON pointers (RFC 6901), such as `/aps/alert/title`.
extension JSONValue {
    /// Returns the value that a pointer names, relative to this value; nil if the value is missing or the pointer is
    /// malformed.
    public func at(pointer: String) -> JSONValue? {
        guard !pointer.isEmpty else { return self }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var value = self
        // Split by bytes. As characters, a slash and a following combining mark would be one.
        for token in pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let child = value.child(Substring(token)) else { return nil }
            value = child
        }
        return value
    }

    /// Returns the value that a reference token names in this value; nil if the value is missing.
    package func child(_ token: Substring) -> JSONValue? {
        switch kind {
        case .object:
            return Self.memberKey(token).flatMap { self[key: $0] }
        case .array:
            guard let position = Self.elementPosition(token), position < count else { return nil }
            return elements.dropFirst(position).first { _ in true }
        default:
            return nil
        }
    }

    /// Returns the key that a reference token names; nil if a `~` is not followed by `0` or `1`.
    package static func memberKey(_ token: Substring) -> String? {
        var text = ""
        var isEscape = false
        for character in token.unicodeScalars {
            switch (isEscape, character) {
            case (true, "0"): text.unicodeScalars.append("~")
            case (true, "1"): text.unicodeScalars.append("/")
            case (true, _): return nil
            case (false, "~"): break
            case (false, _): text.unicodeScalars.append(character)
            }
            isEscape = !isEscape && character == "~"
        }
        return isEscape ? nil : text
    }

    /// Returns the array position that a reference token names; nil if the token is not a position.
    package static func elementPosition(_ token: Substring) -> Int? {
        guard let first = token.utf8.first, first &- UInt8(ascii: "1") < 9 || token == "0" else { return nil }
        return Int(token)
    }

    /// Returns the reference token for a key, which is the key with `~` and `/` escaped.
    public static func pointerToken(_ key: String) -> String {
        guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return key }
        return key.unicodeScalars.reduce(into: "") { text, character in
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(character)
            }
        }
    }
}

extension JSONTape {
    /// Returns the pointer to a value, or to the member of a key. Searches from the root. The time grows with the
    /// number of siblings on the path, so use this function for errors only.
    package func pointer(to target: Int) -> String { walk(to: target).pointer }

    /// Returns the array or object that contains a value; nil for the root. Takes as long as `pointer(to:)`.
    package func container(of target: Int) -> Int? { walk(to: target).container }

    private func walk(to target: Int) -> JSONPointerWalk {
        var walk = JSONPointerWalk(self)
        walk.go(to: target)
        return walk
    }
}

extension JSONValue {
    /// The pointer to this value from the root of the text.
    public var pointer: String { tape.pointer(to: index) }
}
