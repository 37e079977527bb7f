/// A shortened device token for logs. It suffices to find the token in a database, but not to push to it.
public struct ShortToken: Sendable, Hashable, CustomStringConvertible {
    /// Maximum number of shown characters. At most a quarter of the token is shown.
    public static let charactersMax = 8

    public let description: String

    /// Shortens a device token.
    ///
    /// - Parameter token: the token in hexadecimal digits. Other characters are shown as `?`.
    public init(_ token: some StringProtocol) {
        let shown = token.utf8.prefix(min(Self.charactersMax, token.utf8.count / 4))
        description =
            String(
                decoding: shown.map { byte in
                    let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    let isLetter = UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
                    return isDigit || isLetter ? byte : UInt8(ascii: "?")
                }, as: UTF8.self) + "…"
    }
}
