/// Notices that one of some files has changed, once it stands still from one check to the next: it may be half written.
struct FileWatch: Sendable {
    private var known: [String: FileVersion]
    private var seen: [String: FileVersion]

    /// - Parameter known: the files as they were when they were read.
    init(_ known: [String: FileVersion]) {
        self.known = known
        seen = known
    }

    /// Tells of each change once.
    mutating func check() -> Bool {
        let now = Dictionary(uniqueKeysWithValues: known.keys.map { ($0, FileVersion(of: $0)) })
        defer { seen = now }
        guard now.contains(where: { path, version in version != known[path] && version == seen[path] }) else {
            return false
        }
        known = now
        return true
    }
}
