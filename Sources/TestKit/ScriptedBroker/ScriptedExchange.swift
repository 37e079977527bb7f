import AMQP

/// An exchange of the scripted broker, with its bindings in the order of their creation.
final class ScriptedExchange {
    struct Binding: Equatable {
        var key: String
        var destination: String
        /// Whether the destination is an exchange. Otherwise the destination is a queue.
        var isToExchange = false
        /// The arguments, which a headers exchange compares.
        var arguments = FieldTable()
    }

    let name: String
    let kind: ExchangeKind
    let arguments: FieldTable
    var bindings: [Binding] = []

    init(name: String, kind: ExchangeKind, arguments: FieldTable) {
        self.name = name
        self.kind = kind
        self.arguments = arguments
    }

    /// Returns the bindings that match a message, in the order of their creation.
    func targets(for key: String, _ properties: MessageProperties) -> [Binding] {
        switch kind {
        case .fanout: bindings
        case .direct: bindings.filter { $0.key == key }
        case .topic: targets(forTopic: Self.words(key)[...])
        // RabbitMQ uses another hash function, and weights.
        case .consistentHash:
            bindings.isEmpty
                ? [] : [bindings[Int(Self.hash(properties.messageID ?? "") % UInt64(bindings.count))]]
        case .headers: targets(forHeaders: properties.headers ?? FieldTable())
        }
    }

    private func targets(forHeaders headers: FieldTable) -> [Binding] {
        bindings.filter { Self.matches($0.arguments, headers) }
    }

    /// Returns whether headers match the arguments of a binding.
    ///
    /// RabbitMQ ignores arguments that start with `x-` unless the `x-match` value ends in `-with-x`.
    private static func matches(_ arguments: FieldTable, _ headers: FieldTable) -> Bool {
        let mode = arguments["x-match"]?.stringValue ?? "all"
        let compared = arguments.entries.filter { entry in
            entry.name != "x-match" && (mode.hasSuffix("-with-x") || !entry.name.hasPrefix("x-"))
        }
        let equal = compared.count { headers[$0.name] == $0.value }
        return mode.hasPrefix("any") ? equal > 0 : equal == compared.count
    }

    /// Returns the FNV-1a hash, which is the same in every process.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    private func targets(forTopic words: ArraySlice<Substring>) -> [Binding] {
        bindings.filter { $0.key == "#" || Self.topicMatches(Self.words($0.key)[...], words) }
    }

    private static func words(_ text: String) -> [Substring] {
        text.split(separator: ".", omittingEmptySubsequences: false)
    }

    private static func topicMatches(_ pattern: ArraySlice<Substring>, _ key: ArraySlice<Substring>) -> Bool {
        guard let word = pattern.first else { return key.isEmpty }
        if word == "#" {
            return (0...key.count).contains { topicMatches(pattern.dropFirst(), key.dropFirst($0)) }
        }
        guard let first = key.first, word == "*" || word == first else { return false }
        return topicMatches(pattern.dropFirst(), key.dropFirst())
    }
}
