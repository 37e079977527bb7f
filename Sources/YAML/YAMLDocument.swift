public import JSON

/// A YAML text as JSON values with line and column. The JSON Schema validator of requests therefore also validates
/// configurations.
///
/// Plain scalars follow the core schema of YAML 1.2 (`yes` is a string, `0755` is 755). A text must be one document
/// without duplicate keys, anchors, aliases, or tags outside the core schema.
public final class YAMLDocument: Sendable {
    private let json: JSONDocument
    /// Positions of values and keys, by `nodeIndex`.
    private let positions: [JSONPosition]

    /// Maximum size of a text in bytes.
    public static let bytesMax = 1 << 20
    /// Maximum nesting depth of sequences and mappings.
    public static let depthMax = 64

    /// Parses a YAML text.
    ///
    /// - Parameter file: file name for error messages. The file is not read.
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

    /// The root value. The `sourceRange` of this value and of its contents does not refer to the YAML text.
    public var root: JSONValue { json.root }

    /// Returns the position of a value or key in the YAML text.
    public func position(of value: JSONValue) -> JSONPosition { position(ofNode: value.nodeIndex) }

    /// Returns the position of the value or key with this `nodeIndex`. An index outside the document counts as the
    /// root.
    public func position(ofNode index: Int) -> JSONPosition { positions[positions.indices.contains(index) ? index : 0] }
}
