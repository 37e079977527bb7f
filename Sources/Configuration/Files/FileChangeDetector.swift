/// A detector of changed files. A file counts as changed once two consecutive checks have seen the same new version.
/// One check is not enough, because a file that still changes may be half written.
package struct FileChangeDetector: Sendable {
    private var known: [String: FileVersion]
    private var seen: [String: FileVersion]

    /// Creates a detector of changes since the files were read.
    ///
    /// - Parameter known: the versions of the files when they were read.
    package init(_ known: [String: FileVersion]) {
        self.known = known
        seen = known
    }

    /// Returns whether a file has changed. Returns true once for each change.
    package mutating func check() -> Bool {
        let now = Dictionary(uniqueKeysWithValues: known.keys.map { ($0, FileVersion(of: $0)) })
        defer { seen = now }
        guard now.contains(where: { path, version in version != known[path] && version == seen[path] }) else {
            return false
        }
        known = now
        return true
    }
}
