import Delivery

extension PauseScope {
    /// The command that ends a pause of this description: a key or topic is resumed by the words that name it.
    static func remedy(of pause: String) -> String {
        pause == everything.description ? "martlet resume" : "martlet resume --\(pause)"
    }
}
