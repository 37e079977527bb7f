import Glibc
import Threads

/// A new file with dead letters in the format of `martlet dead-letters export`. Only the owner can read the file.
///
/// `@unchecked Sendable`: the thread of a write uses the object only while the caller waits.
final class DropFile: @unchecked Sendable {
    private static let flushBytes = 1 << 20

    struct Failure: Error, Sendable {
        let reason: String

        fileprivate init(_ code: Int32) { reason = strerror(code).map { String(cString: $0) } ?? "error \(code)" }
    }

    /// The path of the complete file. An import must not read an incomplete file, so the file has the suffix
    /// ``partSuffix`` until it is complete.
    let path: String
    private static let partSuffix = ".part"
    private let descriptor: Int32
    private var isNamed = false
    /// The folder that contains the new folder of the file; nil if the folder existed.
    private let parent: String?
    private var buffer: [UInt8] = []

    /// Creates the file, and its folder if there is none.
    ///
    /// - Parameters:
    ///   - now: UNIX milliseconds.
    ///   - random: distinguishes files of the same second.
    init(in folder: String, at now: Int64, random: UInt64) throws(Failure) {
        let isNew = mkdir(folder, 0o700) == 0
        guard isNew || errno == EEXIST else { throw Failure(errno) }
        parent = isNew ? folder.lastIndex(of: "/").map { String(folder[...$0]) } : nil
        let digits = String(random % 0x10000, radix: 16)
        path = "\(folder)/dead-\(Self.time(now))-\(String(repeating: "0", count: 4 - digits.count))\(digits).jsonl"
        descriptor = open(path + Self.partSuffix, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(errno) }
    }

    deinit { close(descriptor) }

    /// Returns a time in UTC, such as `20261130-175003`.
    private static func time(_ unixMilliseconds: Int64) -> String {
        var seconds = time_t(unixMilliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
            + "-\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))"
    }

    /// Appends a line to the buffer, and writes a full buffer.
    func write(_ line: [UInt8]) async throws(Failure) {
        buffer += line
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.flushBytes { try await flush(isLast: false) }
    }

    /// Writes the remaining lines, flushes the file to the disk, and removes the suffix.
    func finish() async throws(Failure) {
        try await flush(isLast: true)
    }

    func remove() { unlink(isNamed ? path : path + Self.partSuffix) }

    private func flush(isLast: Bool) async throws(Failure) {
        // A slow disk must not stop the loop.
        let code = await DetachedThread.run { [self] in writeBuffer() && (!isLast || sync()) ? 0 : errno }
        guard code == 0 else { throw Failure(code) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func writeBuffer() -> Bool {
        buffer.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                guard count > 0 || errno == EINTR else { return false }
                written += max(0, count)
            }
            return true
        }
    }

    private func sync() -> Bool {
        guard fsync(descriptor) == 0, link(path + Self.partSuffix, path) == 0 else { return false }
        isNamed = true
        return unlink(path + Self.partSuffix) == 0
            && Self.sync(folder: path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
            && (parent.map(Self.sync(folder:)) ?? true)
    }

    /// Flushes a folder to the disk, because only this flush writes the names of new entries.
    private static func sync(folder: String) -> Bool {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
