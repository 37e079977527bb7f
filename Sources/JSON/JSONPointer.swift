/// JSON pointers, RFC 6901: `/aps/alert/title`, the empty one for the whole text.
extension JSONValue {
    /// The value that a pointer names, from this one on; nil when there is none.
    public func at(pointer: String) -> JSONValue? {
        guard !pointer.isEmpty else { return self }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var value = self
        // By bytes: as characters, a slash and a combining mark behind it would be one.
        for token in pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let child = value.child(Substring(token)) else { return nil }
            value = child
        }
        return value
    }

    /// What one step of a pointer leads to.
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

    /// The key that a step names; nil when it has a `~` without `0` or `1` behind it.
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

    /// The position that a step names in an array.
    package static func elementPosition(_ token: Substring) -> Int? {
        guard let first = token.utf8.first, first &- UInt8(ascii: "1") < 9 || token == "0" else { return nil }
        return Int(token)
    }

    /// One step of a pointer, `~` and `/` escaped.
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
    /// The pointer to a value, or for a key to its member, found from the root down: the time is that of the siblings
    /// passed over, so this is for errors only.
    package func pointer(to target: Int) -> String { walk(to: target).pointer }

    /// The array or object to which a value belongs; nil for the root. It takes the time of a pointer.
    package func container(of target: Int) -> Int? { walk(to: target).container }

    private func walk(to target: Int) -> JSONPointerWalk {
        var walk = JSONPointerWalk(self)
        walk.go(to: target)
        return walk
    }
}

extension JSONValue {
    /// The pointer from the root of the text to this value.
    public var pointer: String { tape.pointer(to: index) }
}
