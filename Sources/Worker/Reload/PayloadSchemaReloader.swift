import Configuration
import Delivery
import JSONSchema
import Telemetry

/// A reloader of payload schemas whose files change. Logs an invalid schema and keeps its previous version.
struct PayloadSchemaReloader: Sendable {
    private(set) var current: PayloadSchemaFiles
    private let log: Log
    private let counters: ReloadCounters
    /// One detector for each schema.
    private var changes: [FileChangeDetector]

    init(_ files: PayloadSchemaFiles, log: Log, metrics: MetricsRegistry) {
        current = files
        self.log = log
        counters = ReloadCounters(metrics, of: "schemas")
        changes = files.files.map { FileChangeDetector($0.sources) }
        for file in files.files { warn(file) }
    }

    /// Reloads the schemas whose files have changed. Returns whether a reload succeeded.
    mutating func check() -> Bool {
        var hasChanged = false
        // Check each file separately, so that a file that is still being written does not delay the others.
        for index in changes.indices where changes[index].check() {
            if read(index) { hasChanged = true }
            changes[index] = FileChangeDetector(current.files[index].sources)
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
