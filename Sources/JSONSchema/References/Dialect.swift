/// What the keywords of a schema mean: those of a draft, less those of vocabularies that its meta-schema leaves out.
struct Dialect: Equatable {
    var draft: SchemaDraft
    var vocabularies: Vocabularies

    init(_ draft: SchemaDraft) {
        self.draft = draft
        vocabularies = .standard
    }

    /// From the `$vocabulary` of a meta-schema; throws the first required vocabulary that is not known here.
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
    /// Draft-07: what stands beside `$ref` is ignored.
    var ignoresSiblingsOfRef: Bool { draft == .draft07 }
    /// An array of schemas in `items`, with `additionalItems` for the rest.
    var hasItemsArray: Bool { draft != .draft202012 }
    /// What `contains` finds counts as evaluated.
    var containsEvaluates: Bool { draft == .draft202012 }
}
