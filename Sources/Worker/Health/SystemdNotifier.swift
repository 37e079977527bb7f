import EventLoop
import Glibc
import Telemetry

/// A notifier that reports the worker's state to systemd. Does nothing without `NOTIFY_SOCKET`, which systemd sets.
///
/// sd_notify(3) promises a stable protocol that needs no library. The service counts as started before it
/// connects to the broker. A booting machine therefore does not wait for a remote broker. `systemctl status`
/// shows whether the worker consumes.
final class SystemdNotifier {
    /// Maximum interval between calls of `report`.
    private static let intervalMax = Duration.seconds(1)
    private static let intervalMin = Duration.milliseconds(50)
    /// Maximum length of a status in Unicode scalars.
    private static let statusMax = 400

    private let socket: UnixDatagramSocket?
    private let isWatching: Bool
    private let log: Log
    private var status = ""
    private var hasFailed = false
    /// Interval between calls of `report`; nil if systemd's socket is not available.
    let interval: Duration?

    init(_ environment: (String) -> String?, processID: pid_t, log: Log) {
        self.log = log
        var failure: TransportError?
        socket = environment("NOTIFY_SOCKET").flatMap { path in
            do throws(TransportError) {
                return try UnixDatagramSocket(path: path)
            } catch {
                failure = error
                return nil
            }
        }
        // A process may inherit the variables that were meant for its parent.
        let isMeant = environment("WATCHDOG_PID").map { $0 == "\(processID)" } ?? true
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        isWatching = isMeant && microseconds > 1
        // Notify at least twice within the watchdog timeout, after which systemd kills a silent service.
        let twice: Duration = isWatching ? .microseconds(microseconds / 2) : Self.intervalMax
        interval = socket == nil ? nil : max(Self.intervalMin, min(Self.intervalMax, twice))
        if let failure { failed(failure) }
    }

    func started() { send("READY=1") }

    func stopping() { send("STOPPING=1") }

    func report(_ status: String, isAlive: Bool) {
        var words: [String] = []
        if status != self.status { words.append("STATUS=" + Self.line(status)) }
        self.status = status
        if isAlive, isWatching { words.append("WATCHDOG=1") }
        if !words.isEmpty { send(words.joined(separator: "\n")) }
    }

    /// Returns the text as one line of limited length, because systemd reads each line as a separate assignment.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(statusMax).map { $0.value < 0x20 ? " " : $0 }))
    }

    private func send(_ words: String) {
        do throws(TransportError) {
            try socket?.send(words)
        } catch {
            failed(error)
        }
    }

    /// Logs only the first failure, because further notifications probably fail too.
    private func failed(_ error: TransportError) {
        guard !hasFailed else { return }
        hasFailed = true
        log.warning(.serviceManagerUnreachable, [.error: .string(error.message)])
    }
}
