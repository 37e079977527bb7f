import AMQP

/// An exchange of the scripted broker with its bindings, in the order in which they were made.
final class ScriptedExchange {
    struct Binding: Equatable {
        var key: String
        var queue: String
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

    /// The names of the queues that are bound for a routing key, in the order of the bindings.
    func queues(for key: String) -> [String] {
        switch kind {
        case .fanout: bindings.map(\.queue)
        case .direct: bindings.filter { $0.key == key }.map(\.queue)
        case .topic: queues(forTopic: Self.words(key)[...])
        // Nothing here uses header exchanges.
        case .headers: []
        }
    }

    private func queues(forTopic words: ArraySlice<Substring>) -> [String] {
        bindings.filter { $0.key == "#" || Self.topicMatches(Self.words($0.key)[...], words) }.map(\.queue)
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
