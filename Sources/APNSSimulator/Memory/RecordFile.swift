public import EventLoop
import Glibc
import JSON

/// A file with a line of JSON for each request. Lines are buffered until the end of the event-loop iteration, or
/// until their size reaches a limit.
public final class RecordFile: ByteStreamHandler {
    /// Number of buffered bytes that causes a write before the iteration ends.
    private static let waitingBytesMax = 65_536

    private let loop: EventLoop
    private let detail: LoggedRequest.Detail
    private var descriptor: Int32
    private var json = JSONWriter()
    private var waiting: [UInt8] = []
    /// The error message of a failed write; nil if no write failed. The file contains no requests after the failure.
    public private(set) var failure: String?

    /// Creates the file, or truncates it.
    ///
    /// - Throws: `TransportError` with the code `resources` and the system's error message.
    public init(path: String, detail: LoggedRequest.Detail = .summary, loop: EventLoop) throws(TransportError) {
        self.loop = loop
        self.detail = detail
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | Self.linkFlag(path), 0o644)
        guard descriptor >= 0 else {
            let code = errno
            throw TransportError(
                .resources, "cannot write \(path): \(String(cString: strerror(code)))", underlying: code)
        }
        super.init()
    }

    /// Returns the flag that refuses symbolic links, because a link may be another user's. The system's links to the
    /// process's streams, such as `/dev/stdout`, are exempt.
    private static func linkFlag(_ path: String) -> Int32 {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] }
        return ["/dev", "/dev/fd", "/proc/self/fd"].contains(folder) ? 0 : O_NOFOLLOW
    }

    func append(_ request: LoggedRequest) {
        json.removeAll()
        request.write(to: &json, detail)
        waiting.append(contentsOf: json.bytes)
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count >= Self.waitingBytesMax { flush() } else { loop.flushAfterIteration(self) }
    }

    public override func flush() {
        var rest = waiting[...]
        while !rest.isEmpty, descriptor >= 0 {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                failure = "cannot write to the record: \(String(cString: strerror(errno)))"
                close()
            }
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Writes the buffered lines and closes the file.
    func close() {
        guard descriptor >= 0 else { return }
        if failure == nil { flush() }
        Glibc.close(descriptor)
        descriptor = -1
    }
}
