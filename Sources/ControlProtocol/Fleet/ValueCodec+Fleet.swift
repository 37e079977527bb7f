import Crypto
import Delivery
import JSON
import Text

extension String {
    /// Returns whether the text has at most `bytesMax` bytes, a visible character, and no character that could control
    /// a terminal.
    func isPrintable(bytesMax: Int) -> Bool {
        utf8.count <= bytesMax && !unicodeScalars.contains(where: \.steersTerminal)
            && !unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }
}

extension ValueCodec<String> {
    /// Returns a codec of texts for which ``Swift/String/isPrintable(bytesMax:)`` returns true.
    static func printable(bytesMax: Int) -> Self {
        text.checked("a text of 1 to \(bytesMax) bytes without control characters") {
            $0.isPrintable(bytesMax: bytesMax)
        }
    }
}

extension ValueCodec<UUIDValue> {
    static var uuid: Self {
        ValueCodec<String>.text.mapped("a UUID", read: { UUIDValue($0) }, write: { $0.description })
    }
}

extension ValueCodec where Value: LosslessStringConvertible & Sendable {
    /// A codec of scopes, which JSON represents by their descriptions.
    static var scope: Self {
        ValueCodec<String>.printable(bytesMax: FleetLimits.scopeBytesMax).mapped(
            "a scope of at most \(FleetLimits.scopeBytesMax) bytes, such as everything or topic com.example.app",
            read: { Value($0) }, write: { $0.description })
    }
}
