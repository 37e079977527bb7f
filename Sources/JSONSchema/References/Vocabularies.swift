/// Groups of keywords. A meta-schema may omit every group except `core`.
struct Vocabularies: OptionSet {
    let rawValue: UInt8

    static let core = Vocabularies(rawValue: 1)
    static let applicator = Vocabularies(rawValue: 2)
    static let unevaluated = Vocabularies(rawValue: 4)
    static let validation = Vocabularies(rawValue: 8)
    static let format = Vocabularies(rawValue: 16)
    static let formatAssertion = Vocabularies(rawValue: 32)
    /// Keywords that do not affect validity, such as `title`, `examples` and `contentEncoding`.
    static let annotation = Vocabularies(rawValue: 64)

    static let standard: Vocabularies = [.core, .applicator, .unevaluated, .validation, .format, .annotation]
}
