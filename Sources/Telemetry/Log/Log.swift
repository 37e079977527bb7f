/// A JSON-lines log on standard error for operators. Every thread may write to the log, and a write never waits for a
/// reader.
///
/// ```swift
/// log.warning(.brokerLost, [.amqpHost: .describing(endpoint), .error: .describing(error)])
/// ```
/// Events come from a fixed list, for searches and alerts. Variable details follow under `LogKey`s; nil values are
/// omitted.
public final class Log: Sendable {
    /// Maximum bytes of lines that wait for the writer. When the queue is full, further lines are dropped, counted and
    /// reported later.
    public static let queueBytesMax = 256 * 1024
    /// Default timeout of `flush`.
    public static let flushDeadlineMilliseconds = 1000

    /// A log that discards every line.
    public static let silent = Log(level: nil)

    private let queue: LogQueue
    /// The log that owns the queue; nil if this log is the owner. Retained until this log is released.
    private let parent: Log?
    /// The key and value that are appended to each line; nil for no addition.
    private let context: (LogKey, LogValue)?
    /// The raw value of the lowest level that is written; 255 if no level is written.
    private let threshold: UInt8

    /// Creates a log with its own queue.
    ///
    /// - Parameters:
    ///   - level: the lowest level that is written; nil to discard every line.
    ///   - descriptor: the destination (default: standard error). The log does not close it.
    public init(level: LogLevel?, descriptor: Int32 = 2, queueBytesMax: Int = Log.queueBytesMax) {
        queue = LogQueue(descriptor: descriptor, bytesMax: queueBytesMax)
        threshold = level?.rawValue ?? .max
        parent = nil
        context = nil
    }

    private init(_ parent: Log, _ context: (LogKey, LogValue)) {
        queue = parent.queue
        threshold = parent.threshold
        self.parent = parent
        self.context = context
    }

    deinit {
        if parent == nil { queue.close() }
    }

    /// Returns a log that shares the queue and adds `key` to each line. The key replaces the key of an earlier `with`.
    public func with(_ key: LogKey, _ value: LogValue) -> Log { Log(parent ?? self, (key, value)) }

    /// Returns whether a line of `level` would be written.
    public func isEnabled(_ level: LogLevel) -> Bool {
        level.rawValue >= threshold
    }

    /// Writes one line. `metadata` is evaluated only if `level` is written.
    public func write(
        _ level: LogLevel, _ event: LogEvent, _ metadata: @autoclosure () -> KeyValuePairs<LogKey, LogValue?> = [:]
    ) {
        guard isEnabled(level) else { return }
        var line = LogLine(level: level, event: event)
        for case (let key, let value?) in metadata() { line.append(key, value) }
        if let context { line.append(context.0, context.1) }
        line.end()
        queue.append(line.bytes)
    }

    public func debug(_ event: LogEvent, _ metadata: @autoclosure () -> KeyValuePairs<LogKey, LogValue?> = [:]) {
        write(.debug, event, metadata())
    }

    public func info(_ event: LogEvent, _ metadata: @autoclosure () -> KeyValuePairs<LogKey, LogValue?> = [:]) {
        write(.info, event, metadata())
    }

    public func warning(_ event: LogEvent, _ metadata: @autoclosure () -> KeyValuePairs<LogKey, LogValue?> = [:]) {
        write(.warning, event, metadata())
    }

    public func error(_ event: LogEvent, _ metadata: @autoclosure () -> KeyValuePairs<LogKey, LogValue?> = [:]) {
        write(.error, event, metadata())
    }

    /// Waits until all lines are written. Call this function at the end of the process. Blocks the calling thread.
    ///
    /// - Returns: false on timeout.
    @discardableResult
    public func flush(withinMilliseconds milliseconds: Int = Log.flushDeadlineMilliseconds) -> Bool {
        queue.flush(withinMilliseconds: milliseconds)
    }

    /// The number of lines dropped since the start.
    public var droppedCount: Int { queue.droppedCount }
}
