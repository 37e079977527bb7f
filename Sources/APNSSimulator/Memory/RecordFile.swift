public import EventLoop
import Glibc
import JSON

/// A file that takes one JSON line a request, written out once a turn of the loop.
public final class RecordFile: ByteStreamHandler {
    /// Bytes kept for one write at most; beyond it they are written before the turn ends.
    private static let waitingBytesMax = 65_536

    private let loop: EventLoop
    private let detail: LoggedRequest.Detail
    private var descriptor: Int32
    private var json = JSONWriter()
    private var waiting: [UInt8] = []
    /// Set when the file took no more; what came after is not in it.
    public private(set) var failure: String?

    /// Makes the file, or empties it.
    ///
    /// - Throws: `resources` with the system's words.
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

    /// A symbolic link may be another user's, except in the folders in which the system names the process's own streams,
    /// such as /dev/stdout.
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
                failure = "the record ends early: \(String(cString: strerror(errno)))"
                close()
            }
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Writes what waits and takes no more.
    func close() {
        guard descriptor >= 0 else { return }
        if failure == nil { flush() }
        Glibc.close(descriptor)
        descriptor = -1
    }
}
