import Configuration
import Telemetry

/// A reloader of the configuration. Reloads on request, and after a change of a key, certificate or password file that
/// the configuration names. Logs an invalid configuration and keeps the previous version.
struct ConfigurationReloader: Sendable {
    private let path: String
    private let log: Log
    private let counters: ReloadCounters
    private(set) var latest: ConfigurationVersion
    private var changes: FileChangeDetector

    init(_ version: ConfigurationVersion, from path: String, log: Log, _ counters: ReloadCounters) {
        (self.path, self.log, self.counters) = (path, log, counters)
        latest = version
        changes = FileChangeDetector(version.sources)
    }

    /// Reloads all files. Returns nil if they are unchanged or invalid.
    mutating func readAgain() -> ConfigurationVersion? { read().flatMap { replaceLatest(with: $0) } }

    /// Reloads the files that the configuration names, except payload schemas, if one of the files has changed. Does
    /// not read the configuration's own text, because the text may be half written until an operator requests a reload.
    /// Returns nil if nothing has changed or the files are invalid.
    mutating func check(payloadSchemas: PayloadSchemaFiles) -> ConfigurationVersion? {
        guard changes.check() else { return nil }
        return read(text: latest.text, payloadSchemas: payloadSchemas).flatMap { replaceLatest(with: $0) }
    }

    /// Makes `version` the latest version again after a later version was rejected. The files of the rejected version
    /// are read again after a change or on request.
    mutating func fallBack(to version: ConfigurationVersion) {
        // Files that have changed since the rejected version was read count as changes.
        changes = FileChangeDetector(version.sources.merging(latest.sources) { $1 })
        latest = version
    }

    /// Makes `version` the latest version and returns it. If the contents are the same, keeps the latest version, logs
    /// an unchanged configuration and returns nil. A file may be rewritten without a change. In both cases, later
    /// checks compare the files with `version`.
    private mutating func replaceLatest(with version: ConfigurationVersion) -> ConfigurationVersion? {
        changes = FileChangeDetector(version.sources)
        guard version.digest != latest.digest else {
            log.info(.configurationUnchanged, [.file: .string(path)])
            return nil
        }
        latest = version
        return version
    }

    private func read(text: [UInt8]? = nil, payloadSchemas: PayloadSchemaFiles? = nil) -> ConfigurationVersion? {
        do throws(ConfigurationError) {
            return try ConfigurationVersion(readFrom: path, text: text, payloadSchemas: payloadSchemas)
        } catch {
            counters.refused.add()
            for mistake in error.mistakes { log.error(.configurationRefused, [.error: .describing(mistake)]) }
            return nil
        }
    }
}
