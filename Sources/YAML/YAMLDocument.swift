public import JSON

/// A YAML text as JSON values, each of which knows its line and column: so a configuration is checked by the same
/// validator as messages.
///
/// Plain scalars mean what YAML 1.2's core schema says (`yes` is text, `0755` is 755); one document; each key once in
/// its mapping; no anchors and aliases, no tags but the core schema's.
public final class YAMLDocument: Sendable {
    private let json: JSONDocument
    /// Where each value and key of the document begins, by its `nodeIndex`.
    private let positions: [JSONPosition]

    /// Bytes of a text.
    public static let bytesMax = 1 << 20
    /// Sequences and mappings inside each other.
    public static let depthMax = 64

    /// `file` is for the errors alone; nothing is read from it.
    public init(_ text: [UInt8], file: String? = nil) throws(YAMLError) {
        do throws(YAMLError) {
            var builder = YAMLBuilder(text)
            try builder.build()
            json = try builder.document()
            positions = builder.positions
        } catch {
            var error = error
            error.file = file
            throw error
        }
    }

    public convenience init(_ text: String, file: String? = nil) throws(YAMLError) {
        try self.init(Array(text.utf8), file: file)
    }

    /// The value of the document. The `sourceRange` of what is in it is not the YAML text's.
    public var root: JSONValue { json.root }

    /// Where a value or key begins in the YAML text.
    public func position(of value: JSONValue) -> JSONPosition { position(ofNode: value.nodeIndex) }

    /// As for a value, by its `nodeIndex`; one that is not of this document counts as the root.
    public func position(ofNode index: Int) -> JSONPosition { positions[positions.indices.contains(index) ? index : 0] }
}
