import JSON

/// Which dead letters are meant: those that a filter takes, or that were named, or all.
struct DeadLetterChoice: Sendable {
    var filter: Filter?
    /// Empty: any.
    var ids: Set<String> = []

    func takes(_ letter: DeadLetter, _ copy: MessageCopy, nowUnixMilliseconds: Int64) -> Bool {
        if !ids.isEmpty, !ids.contains(letter.id), !ids.contains(copy.messageID ?? "") { return false }
        guard let filter else { return true }
        let document = try? JSONDocument(copy.body)
        return filter.matches { field in
            letter.value(
                of: field, headers: copy.headers, root: document?.root, nowUnixMilliseconds: nowUnixMilliseconds)
        }
    }
}
