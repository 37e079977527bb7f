/// Colors by meaning.
package enum Tint: String, Sendable {
    case good = "32"
    case warning = "33"
    case bad = "31"
    case heading = "1"

    package func applied(to text: String, if enabled: Bool) -> String {
        enabled ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
