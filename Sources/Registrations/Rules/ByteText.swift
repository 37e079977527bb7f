/// A text that equals only a text with the same bytes. As a Swift string, the composed and the decomposed form of a
/// letter are equal, although they have different keyed hashes. Users, installations, scopes and apps are therefore
/// compared, and put into sets and dictionaries, as exact texts.
public struct ByteText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    public let text: String

    public init(_ text: String) { self.text = text }

    public init(stringLiteral text: String) { self.text = text }

    public static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    public static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in
            hasher.combine(bytes.count)
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }
}

extension String {
    /// The text for comparisons with texts of other commands and rows.
    public var exact: ByteText { ByteText(self) }
}
