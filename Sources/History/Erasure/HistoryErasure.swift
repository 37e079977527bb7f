import Glibc
package import Registrations
package import SQLite

/// The erasure of a device, user or request from the files of a history. No console may have the files open, so that
/// SQLite can rebuild the segments with erased rows and empty every WAL.
package struct HistoryErasure {
    package struct Outcome: Sendable, Hashable {
        /// The number of deleted rows and samples.
        package var rows = 0
        /// The numbers of damaged segments, and of segments whose key is missing. They may contain further rows.
        package var unreadableSegments: [Int] = []

        package init() {}
    }

    private let folder: HistoryFolder
    private let keys: RegistrationKeys

    package init(_ folder: HistoryFolder, _ keys: RegistrationKeys) { (self.folder, self.keys) = (folder, keys) }

    /// Deletes the rows of a subject, and stores a tombstone, so that a replay skips its lines up to `now`. Blocks.
    ///
    /// - Parameter now: UNIX milliseconds.
    /// - Throws: ``SQLiteError``; of code `missing` if there is no history, of code `inUse` if a console has it open.
    ///   After another error, repeat the call: some segments may have no such rows any more.
    package func run(_ subject: HistorySubject, at now: Int64) throws(SQLiteError) -> Outcome {
        guard access(folder.indexPath, F_OK) == 0 || errno != ENOENT else {
            throw SQLiteError(.missing, "no history in \(folder.path): \(folder.indexPath) does not exist")
        }
        let file = try SQLiteFile.open(folder.indexPath, .readWrite, schema: .historyIndex)
        defer { file.close() }
        let writer = try HistoryWriter(file, folder, keys, HistoryLimits()) { nil }
        // A later error must not lose the tombstone.
        let key = try file.transaction { () throws(SQLiteError) in try writer.addTombstone(of: subject, at: now) }
        let outcome = try writer.eraseRows(of: subject, key)
        try file.emptyWAL()
        return outcome
    }
}
