import Delivery
import JSONSchema
import Telemetry

/// Reads payload schemas again when their files change. A new version that cannot be used is told of, and the one before
/// stays.
struct PayloadSchemaReloader: Sendable {
    private(set) var current: PayloadSchemaFiles
    private let log: Log
    private let counters: ReloadCounters
    /// For each schema its files at the last check: one is read once it stands still from one check to the next, since
    /// it may be half written.
    private var seen: [[String: FileVersion]]

    init(_ files: PayloadSchemaFiles, log: Log, metrics: MetricsRegistry) {
        current = files
        self.log = log
        counters = ReloadCounters(metrics, of: "schemas")
        seen = files.files.map(\.sources)
        for file in files.files { warn(file) }
    }

    /// Whether `current` has changed.
    mutating func check() -> Bool {
        var hasChanged = false
        for index in current.files.indices {
            let known = current.files[index].sources
            let now = Dictionary(uniqueKeysWithValues: known.keys.map { ($0, FileVersion(of: $0)) })
            // One that is still being written holds up no other: when it is done, it has changed again.
            let isChanged = now.contains { path, version in
                version != known[path] && version == seen[index][path]
            }
            seen[index] = now
            if isChanged && read(index) { hasChanged = true }
        }
        return hasChanged
    }

    private mutating func read(_ index: Int) -> Bool {
        let path = current.files[index].path
        do throws(SchemaFileProblem) {
            try current.files[index].readAgain()
            counters.taken.add()
            log.info(.payloadSchemaRead, [.file: .string(path)])
            warn(current.files[index])
            return true
        } catch {
            counters.refused.add()
            log.error(
                .payloadSchemaBroken,
                [.file: .string(path), .error: .string("\(error)")])
            return false
        }
    }

    private func warn(_ file: PayloadSchemaFiles.File) {
        for warning in file.schema.warnings {
            log.warning(
                .payloadSchemaDoubtful, [.file: .string(file.path), .error: .string(warning)])
        }
    }
}
