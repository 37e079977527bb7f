import JSON

/// A selection of dead letters by filter and by ID. A selection with neither a filter nor IDs
/// contains all dead letters.
package struct DeadLetterChoice: Sendable {
    package var filter: Filter?
    /// The selected IDs; empty to select any ID.
    package var ids: Set<String> = []

    package init(filter: Filter? = nil, ids: Set<String> = []) {
        self.filter = filter
        self.ids = ids
    }

    package func matches(_ letter: DeadLetter, _ copy: RepublishableMessage, nowUnixMilliseconds: Int64) -> Bool {
        if !ids.isEmpty, !ids.contains(letter.id), !ids.contains(copy.messageID ?? "") { return false }
        guard let filter else { return true }
        let document = try? JSONDocument(copy.body)
        return filter.matches { field in
            letter.value(
                of: field, headers: copy.headers, root: document?.root, nowUnixMilliseconds: nowUnixMilliseconds)
        }
    }
}
