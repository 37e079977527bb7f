/// A name or URI with equality by bytes, as in RFC 3986 and JSON Schema. Swift's strings are equal if they are
/// canonically equivalent.
struct ExactText: Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactText, right: ExactText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(text.utf8.count)
    }
}
