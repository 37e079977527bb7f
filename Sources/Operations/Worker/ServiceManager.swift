import EventLoop
import Glibc
import Telemetry

/// Tells systemd, where it started the process, how the worker stands (sd_notify(3), whose words are promised to stay and
/// are meant to be said without its library). Elsewhere it says nothing.
///
/// The service has started once its configuration is read and its admin endpoint there: a machine that boots need not wait
/// for a broker on another. Whether messages are taken is the status, which `systemctl status` shows.
final class ServiceManager {
    /// How often it may hear how the worker stands.
    private static let intervalMax = Duration.seconds(1)
    private static let intervalMin = Duration.milliseconds(50)
    /// Characters of a status.
    private static let statusMax = 400

    private let socket: UnixDatagramSocket?
    private let isWatching: Bool
    private let log: Log
    private var status = ""
    private var hasFailed = false
    /// How often to call `hears`; nil: never, since nobody listens.
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
        // The variables may have been another process' and passed on.
        let isMeant = environment("WATCHDOG_PID").map { $0 == "\(processID)" } ?? true
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        isWatching = isMeant && microseconds > 1
        // Twice in the time after which it ends a service that it has not heard from.
        let twice: Duration = isWatching ? .microseconds(microseconds / 2) : Self.intervalMax
        interval = socket == nil ? nil : max(Self.intervalMin, min(Self.intervalMax, twice))
        if let failure { failed(failure) }
    }

    func started() { tell("READY=1") }

    func stopping() { tell("STOPPING=1") }

    func hears(_ status: String, isAlive: Bool) {
        var words: [String] = []
        if status != self.status { words.append("STATUS=" + Self.line(status)) }
        self.status = status
        if isAlive, isWatching { words.append("WATCHDOG=1") }
        if !words.isEmpty { tell(words.joined(separator: "\n")) }
    }

    /// Each line is a word of its own.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(statusMax).map { $0.value < 0x20 ? " " : $0 }))
    }

    private func tell(_ words: String) {
        do throws(TransportError) {
            try socket?.send(words)
        } catch {
            failed(error)
        }
    }

    /// Told once: it would be told at every word.
    private func failed(_ error: TransportError) {
        guard !hasFailed else { return }
        hasFailed = true
        log.warning(.serviceManagerUnreachable, [.error: .string(error.message)])
    }
}
