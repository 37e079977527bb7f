import Delivery
import JSONSchema
import Telemetry

/// Reads payload schemas again when their files change. A new version that cannot be used is told of, and the one before
/// stays.
struct PayloadSchemaReloader: Sendable {
    private(set) var current: PayloadSchemaFiles
    private let log: Log
    private let counters: ReloadCounters
    /// For each schema.
    private var watches: [FileWatch]

    init(_ files: PayloadSchemaFiles, log: Log, metrics: MetricsRegistry) {
        current = files
        self.log = log
        counters = ReloadCounters(metrics, of: "schemas")
        watches = files.files.map { FileWatch($0.sources) }
        for file in files.files { warn(file) }
    }

    /// Whether `current` has changed.
    mutating func check() -> Bool {
        var hasChanged = false
        // One that is still being written holds up no other.
        for index in watches.indices where watches[index].check() {
            if read(index) { hasChanged = true }
            watches[index] = FileWatch(current.files[index].sources)
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
