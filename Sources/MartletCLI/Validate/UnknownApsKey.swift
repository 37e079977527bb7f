import APNSProtocol
import JSON
import Text

/// A key inside `aps` that Apple does not define. It is no mistake, since Apple adds keys from time to time; more often it
/// is a slip, of which nobody would say a word: APNs takes it, and devices pass over it.
struct UnknownApsKey: Equatable {
    /// That are told of one message.
    static let toldMax = 5

    /// To the member.
    var pointer: String
    /// The key that was probably meant.
    var suggestion: String?
    /// Of the key.
    var nodeIndex: Int

    static func all(in request: JSONValue) -> [UnknownApsKey] {
        guard let aps = request["payload"]?["aps"] else { return [] }
        var found: [UnknownApsKey] = []
        for (key, _) in aps.members {
            guard found.count < toldMax, let name = key.string else { break }
            guard !PayloadKeys.aps.contains(name) else { continue }
            found.append(
                UnknownApsKey(
                    pointer: key.pointer, suggestion: Suggestion.nearest(to: name, among: PayloadKeys.aps),
                    nodeIndex: key.nodeIndex))
        }
        return found
    }

    /// Behind the pointer.
    var message: String {
        "is no key of Apple's, and devices pass over it" + (suggestion.map { " (did you mean \"\($0)\"?)" } ?? "")
    }

    /// For a person.
    var sentence: String { "\(pointer) \(message)." }
}
