/// Lines of JSON on standard error, for an operator. Usable from every thread; never waits for a reader.
///
/// ```swift
/// log.warning(.brokerLost, [.amqpHost: .describing(endpoint), .error: .describing(error)])
/// ```
/// The event is one of a fixed list, so that it can be searched for and counted; what varies stands beside it under a
/// `LogKey`, and is left out where it is nil.
public final class Log: Sendable {
    /// Bytes of lines that wait for the writer; at it, further lines are dropped, counted, and told of later.
    public static let queueBytesMax = 256 * 1024
    /// How long `flush` waits for a reader that has stalled.
    public static let flushDeadlineMilliseconds = 1000

    /// Says nothing.
    public static let silent = Log(level: nil)

    private let queue: LogQueue
    /// Whose lines these are; kept by what was made of it.
    private let parent: Log?
    /// At the end of each line.
    private let context: (LogKey, LogValue)?
    /// The raw value of the least level that is written; 255 for none.
    private let threshold: UInt8

    /// - Parameters:
    ///   - level: the least that is written; nil for nothing at all.
    ///   - descriptor: where to, standard error unless told otherwise; not closed by this.
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

    /// The same log, with `key` in each line; it does not keep the keys that `self` was given so.
    public func with(_ key: LogKey, _ value: LogValue) -> Log { Log(parent ?? self, (key, value)) }

    /// Whether a line of `level` would be written.
    public func isEnabled(_ level: LogLevel) -> Bool {
        level.rawValue >= threshold
    }

    /// Writes one line; `metadata` is not evaluated when `level` is not written.
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

    /// Waits until all lines are written, for the end of the process; blocks the calling thread.
    ///
    /// - Returns: false when the deadline passed before.
    @discardableResult
    public func flush(withinMilliseconds milliseconds: Int = Log.flushDeadlineMilliseconds) -> Bool {
        queue.flush(withinMilliseconds: milliseconds)
    }

    /// Lines that were dropped and not told of yet.
    public var droppedCount: Int { queue.droppedCount }
}
