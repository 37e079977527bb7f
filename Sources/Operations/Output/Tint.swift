/// Colours of meaning, not of taste: what went well, what needs a look, what went wrong.
enum Tint: String, Sendable {
    case good = "32"
    case warning = "33"
    case bad = "31"
    case heading = "1"

    func applied(to text: String, if enabled: Bool) -> String {
        enabled ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
