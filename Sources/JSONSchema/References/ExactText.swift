/// A name or URI that equals only one of the same bytes, as RFC 3986 and JSON Schema have it: strings of Swift are equal
/// when they look alike.
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
