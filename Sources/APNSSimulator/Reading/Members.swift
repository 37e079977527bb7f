import JSON
import Text

/// An object of which all members are known.
struct Members {
    private let value: JSONValue
    /// What it is called in errors.
    private let what: String

    /// - Throws: when it is no object, or has other members.
    init(_ value: JSONValue, _ what: String, known: [String]) throws(InputError) {
        guard value.kind == .object else { throw InputError("\(what) is an object", node: value.nodeIndex) }
        for (key, _) in value.members where !known.contains(key.string ?? "") {
            let name = key.string ?? ""
            throw InputError(
                "\(what) has no \(name); it has \(known.joined(separator: ", "))"
                    + Suggestion.hint(for: name, among: known),
                node: key.nodeIndex)
        }
        self.value = value
        self.what = what
    }

    subscript(name: String) -> JSONValue? { value[key: name] }

    /// About one of the members; about the object when it has no such member.
    func error(_ name: String, _ what: String) -> InputError {
        InputError("\(name) \(what)", node: (value[key: name] ?? value).nodeIndex)
    }

    /// About the whole.
    func error(_ sentence: String) -> InputError { InputError(sentence, node: value.nodeIndex) }

    /// What the member `name` has to be is missing.
    func missing(_ name: String) -> InputError { error("\(what) has no \(name)") }

    /// A text that is not empty.
    func text(_ name: String, bytesMax: Int = 255) throws(InputError) -> String? {
        guard let member = value[key: name] else { return nil }
        guard let text = member.string, (1...bytesMax).contains(text.utf8.count) else {
            throw error(
                name, "is a text of at most \(bytesMax) bytes" + (member.kind == .number ? "; put it in quotes" : ""))
        }
        return text
    }

    /// What an object is known by, which may stand elsewhere, as in a path.
    ///
    /// - Parameter standing: as it stands there; the object's own, if it has one, has to be the same.
    func id(
        _ name: String = "id", standing: String? = nil, bytesMax: Int = 255
    ) throws(InputError) -> String {
        guard let id = try text(name, bytesMax: bytesMax) else {
            guard let standing else { throw missing(name) }
            return standing
        }
        guard standing == nil || standing == id else { throw error(name, "is another one than in the path") }
        return id
    }

    func bool(_ name: String) throws(InputError) -> Bool? {
        guard let member = value[key: name] else { return nil }
        guard let bool = member.bool else { throw error(name, "is true or false") }
        return bool
    }

    func int(_ name: String, _ range: ClosedRange<Int>) throws(InputError) -> Int? {
        guard let member = value[key: name] else { return nil }
        guard let number = member.int, range.contains(number) else {
            throw error(name, "is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func number(_ name: String, _ range: ClosedRange<Double>) throws(InputError) -> Double? {
        guard let member = value[key: name] else { return nil }
        guard let number = member.double, range.contains(number) else {
            throw error(name, "is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String) throws(InputError) -> Word? {
        guard let member = value[key: name] else { return nil }
        return try Self.word(member, name)
    }

    /// One of a few words.
    ///
    /// - Parameter what: what it is called in errors.
    static func word<Word: RawRepresentable<String> & CaseIterable>(
        _ value: JSONValue, _ what: String
    ) throws(InputError) -> Word {
        guard let word = value.string.flatMap(Word.init(rawValue:)) else {
            let words = Word.allCases.map(\.rawValue)
            throw InputError(
                "\(what) is \(words.joined(separator: " or "))"
                    + Suggestion.hint(for: value.string ?? "", among: words),
                node: value.nodeIndex)
        }
        return word
    }

    /// The elements of a list; none when there is no such member.
    func elements(_ name: String) throws(InputError) -> [JSONValue] {
        guard let list = value[key: name] else { return [] }
        guard list.kind == .array else { throw error(name, "is a list") }
        return list.elements.map { $0 }
    }
}
