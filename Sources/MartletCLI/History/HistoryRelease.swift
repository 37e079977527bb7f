import EventLoop
import Glibc
import HTTPClient
import SQLite

/// The access of a command to the files of a history. A running console closes the files at the request of the command.
/// It opens them again when the command has ended, since the lock of the files permits one process.
struct HistoryRelease {
    private static let secondsMax = 60
    private static let retryMicroseconds: UInt32 = 100_000
    /// The console answers after its broker has confirmed the end of the reading, or has not.
    private static let answerMillisecondsMax = 30_000

    /// The folder of the history.
    let folder: String
    /// The control sockets at which the console may listen.
    let socketPaths: [String]

    /// Runs `body`, which opens the files. If they are in use, requests them from the console, and repeats `body`.
    func withFiles<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        var hasRequested = false
        for _ in 0..<Self.secondsMax * 1_000_000 / Int(Self.retryMicroseconds) {
            do throws(SQLiteError) {
                return try body()
            } catch {
                guard error.code == .inUse else { throw error }
                if !hasRequested { try request(or: error) }
                hasRequested = true
                usleep(Self.retryMicroseconds)
            }
        }
        return try body()
    }

    /// Requests the files from the console with this folder.
    ///
    /// - Throws: an error with the reason if no console has closed them.
    private func request(or error: SQLiteError) throws(SQLiteError) {
        let client = HTTPClient()
        var reason = "no console of this user found on this machine; run the command as the user of the console"
        for path in socketPaths {
            do throws(HTTPError) {
                let answer = try WorkerAddress.socket(path).request(
                    client, .post, "release", [("folder", folder)],
                    answerMillisecondsMax: Self.answerMillisecondsMax)
                if answer.isSuccess { return }
                reason = "\(path): \(answer.workerSentence)"
            } catch {
                // The socket of a killed process remains.
                if error.code != .cannotConnect || socketPaths.count == 1 { reason = error.message }
            }
        }
        throw SQLiteError(.inUse, "\(error.message); the console was asked to close it: \(reason)")
    }
}
