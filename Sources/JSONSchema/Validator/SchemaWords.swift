import JSON

/// Quotations of a schema's values and descriptions.
extension CompiledSchema {
    /// Maximum length of a quotation in bytes.
    private static let quotedMax = 200
    /// Maximum number of Unicode scalars in which the end of a sentence is searched.
    private static let sentenceMax = 1000

    func value(_ place: SchemaNode) -> JSONValue {
        JSONValue(tape: documents[Int(place.document)].root.tape, index: Int(place.node))
    }

    func quoted(_ place: SchemaNode) -> String { quoted(value(place)) }

    func quoted(_ value: JSONValue) -> String { cut(text(value)) }

    /// Returns a string in quotes, without JSON escapes.
    func quotedText(_ place: SchemaNode) -> String { "\"\(cut(value(place).string ?? ""))\"" }

    func quotedElements(_ place: SchemaNode) -> String { quotedElements(value(place)) }

    func quotedElements(_ list: JSONValue) -> String {
        cut(list.elements.prefix(Self.quotedMax).map { text($0) }.joined(separator: ", "))
    }

    /// Returns the first sentence of the description, else the title, of the schema that contains a keyword;
    /// nil if the schema has neither.
    func firstSentence(about keyword: SchemaNode) -> String? {
        let value = value(keyword)
        guard let container = value.tape.container(of: value.index) else { return nil }
        let owner = JSONValue(tape: value.tape, index: container)
        guard let text = owner["description"]?.string ?? owner["title"]?.string else { return nil }
        return cut(firstSentence(of: text))
    }

    /// Returns the text up to the end of its first sentence. The periods of "e.g. this" end no sentence.
    private func firstSentence(of text: String) -> String {
        let text = Array(text.unicodeScalars.prefix(Self.sentenceMax))
        let end =
            text.indices.first { index in
                text[index] == "."
                    && (index + 1 == text.count
                        || index + 2 < text.count && text[index + 1] == " "
                            && text[index + 2].properties.isUppercase)
            } ?? text.count
        return String(String.UnicodeScalarView(text[..<end]))
    }

    private func text(_ value: JSONValue) -> String {
        String(decoding: value.tape.view.source(of: value.index), as: UTF8.self)
    }

    private func cut(_ text: String) -> String {
        guard text.utf8.count > Self.quotedMax else { return text }
        return String(decoding: text.utf8.prefix(Self.quotedMax), as: UTF8.self) + "…"
    }
}
