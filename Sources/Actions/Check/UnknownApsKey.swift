import APNSProtocol
package import JSON
import Text

/// A key inside `aps` that Apple does not define. Martlet only warns about the key, because Apple adds keys over time.
/// Most unknown keys are typing errors: APNs accepts the key, and devices ignore it.
package struct UnknownApsKey: Equatable {
    /// Maximum number of keys that are reported for one request.
    static let countMax = 5

    /// JSON pointer of the member.
    package var pointer: String
    /// The Apple key that was probably intended; nil if no Apple key is similar.
    package var suggestion: String?
    var nodeIndex: Int

    package static func all(in request: JSONValue) -> [UnknownApsKey] {
        guard let aps = request["payload"]?["aps"] else { return [] }
        var found: [UnknownApsKey] = []
        for (key, _) in aps.members {
            guard found.count < countMax, let name = key.string else { break }
            guard !PayloadKeys.aps.contains(name) else { continue }
            found.append(
                UnknownApsKey(
                    pointer: key.pointer, suggestion: Suggestion.nearest(to: name, among: PayloadKeys.aps),
                    nodeIndex: key.nodeIndex))
        }
        return found
    }

    /// The message after the pointer.
    package var message: String {
        "is not a key that Apple defines; devices ignore the key"
            + (suggestion.map { " (did you mean \"\($0)\"?)" } ?? "")
    }

    /// The complete sentence for an operator.
    package var sentence: String { "\(pointer) \(message)." }
}
