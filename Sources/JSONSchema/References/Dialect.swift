/// The keywords that apply to a schema. These are the keywords of its draft, except those in vocabularies that its
/// meta-schema omits.
struct Dialect: Equatable {
    var draft: SchemaDraft
    var vocabularies: Vocabularies

    init(_ draft: SchemaDraft) {
        self.draft = draft
        vocabularies = .standard
    }

    /// Creates a dialect from the `$vocabulary` of a meta-schema. Throws for the first required vocabulary that is
    /// unknown.
    init(vocabularies names: [(uri: String, isRequired: Bool)], draft: SchemaDraft) throws(UnknownVocabulary) {
        self.draft = draft
        vocabularies = []
        for (uri, isRequired) in names {
            guard let (draft, vocabulary) = Self.vocabulary(uri) else {
                guard !isRequired else { throw UnknownVocabulary(uri: uri) }
                continue
            }
            if vocabulary == .core { self.draft = draft }
            vocabularies.insert(vocabulary)
        }
        vocabularies.insert(.core)
    }

    struct UnknownVocabulary: Error {
        var uri: String
    }

    private static func vocabulary(_ uri: String) -> (SchemaDraft, Vocabularies)? {
        for draft in [SchemaDraft.draft202012, .draft201909] {
            let prefix = draft.rawValue.dropLast("schema".count) + "vocab/"
            guard uri.hasPrefix(prefix) else { continue }
            switch uri.dropFirst(prefix.count) {
            case "core": return (draft, .core)
            case "applicator": return (draft, draft == .draft201909 ? [.applicator, .unevaluated] : .applicator)
            case "unevaluated" where draft == .draft202012: return (draft, .unevaluated)
            case "validation": return (draft, .validation)
            case "meta-data", "content": return (draft, .annotation)
            case "format", "format-annotation": return (draft, .format)
            case "format-assertion": return (draft, [.format, .formatAssertion])
            default: return nil
            }
        }
        return nil
    }
}

extension Dialect {
    /// Whether keywords beside `$ref` are ignored, as in draft-07.
    var ignoresSiblingsOfRef: Bool { draft == .draft07 }
    /// Whether `items` may be an array of schemas, with `additionalItems` for further elements.
    var hasItemsArray: Bool { draft != .draft202012 }
    /// Whether elements that `contains` matches count as evaluated.
    var containsEvaluates: Bool { draft == .draft202012 }
}
