import JSON

/// Selects dead letters by filter and by ID. Without both, selects all.
package struct DeadLetterChoice: Sendable {
    package var filter: Filter?
    /// Empty: any.
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
