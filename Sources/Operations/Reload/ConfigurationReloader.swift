import Telemetry

/// Reads the configuration anew when it is asked to, and when a file changes that it refers to: a key, a certificate, a
/// password. What is broken is told of, and the version before stays.
struct ConfigurationReloader: Sendable {
    private let path: String
    private let log: Log
    private let counters: ReloadCounters
    private(set) var latest: ConfigurationVersion
    private var watch: FileWatch

    init(_ version: ConfigurationVersion, from path: String, log: Log, _ counters: ReloadCounters) {
        (self.path, self.log, self.counters) = (path, log, counters)
        latest = version
        watch = FileWatch(version.sources)
    }

    /// All of it, as the files are now; nil when they say what they said, or something that is wrong.
    mutating func readAgain() -> ConfigurationVersion? { read().flatMap { news($0) } }

    /// The same text with the files that it refers to, when one of them has changed. A text that nobody asked to be read
    /// may be half written.
    mutating func check(payloadSchemas: PayloadSchemaFiles) -> ConfigurationVersion? {
        guard watch.check() else { return nil }
        return read(text: latest.text, payloadSchemas: payloadSchemas).flatMap { news($0) }
    }

    /// The newest could not be taken after all; it is tried again when something changes, or when asked for.
    mutating func fallBack(to version: ConfigurationVersion) {
        // What has changed since the newest was read is news.
        watch = FileWatch(version.sources.merging(latest.sources) { $1 })
        latest = version
    }

    /// nil when it says what the newest did: files are also written anew, or linked anew, with what they held.
    private mutating func news(_ version: ConfigurationVersion) -> ConfigurationVersion? {
        watch = FileWatch(version.sources)
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
