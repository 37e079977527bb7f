import Delivery
import Telemetry

/// Reads payload schemas again when their files change. A new version that cannot be used is told of, and the one before
/// stays.
struct PayloadSchemaReloader: Sendable {
    private(set) var current: PayloadSchemaFiles
    private let log: Log
    private var states: [State]

    private struct State {
        /// What `current` holds or was refused.
        var known: FolderFingerprint
        /// Seen at the last check: a file is read once it stands still from one check to the next, since it may be half
        /// written.
        var seen: FolderFingerprint
    }

    init(_ files: PayloadSchemaFiles, log: Log) {
        current = files
        self.log = log
        states = files.files.map { file in
            let fingerprint = FolderFingerprint(of: file.path)
            return State(known: fingerprint, seen: fingerprint)
        }
    }

    /// Whether `current` has changed.
    mutating func check() -> Bool {
        var hasChanged = false
        for index in states.indices {
            let now = FolderFingerprint(of: current.files[index].path)
            defer { states[index].seen = now }
            guard now == states[index].seen, now != states[index].known else { continue }
            states[index].known = now
            if read(index) { hasChanged = true }
        }
        return hasChanged
    }

    private mutating func read(_ index: Int) -> Bool {
        let path = current.files[index].path
        do throws(SchemaFileProblem) {
            current.files[index].schema = try SchemaFolder().compile(path)
            log.info("a payload schema is read again", [.file: .string(path)])
            return true
        } catch {
            log.error(
                "a payload schema is broken: the version before stays in force",
                [.file: .string(path), .error: .string("\(error)")])
            return false
        }
    }
}
