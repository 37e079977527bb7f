import CLinux
import Glibc

/// Reads whole small files: configuration, secrets, messages to publish.
enum FileReader {
    /// - Parameter path: `-` is standard input where `allowsStandardInput` says so.
    static func bytes(
        of path: String, bytesMax: Int, allowsStandardInput: Bool = false
    ) throws(ReferenceResolver.ReadFailure) -> [UInt8] {
        let isStandardInput = allowsStandardInput && path == "-"
        let descriptor = isStandardInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { if !isStandardInput { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw failure(errno)
            }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= bytesMax else {
                throw ReferenceResolver.ReadFailure(reason: "it is larger than \(bytesMax) bytes")
            }
        }
    }

    private static func failure(_ code: Int32) -> ReferenceResolver.ReadFailure {
        let reason =
            switch code {
            case ENOENT: "there is no such file"
            case EACCES: "permission denied"
            case EISDIR: "it is a folder"
            default: strerror(code).map { String(cString: $0) } ?? "error \(code)"
            }
        return ReferenceResolver.ReadFailure(reason: reason)
    }

    /// `path` as seen from the folder of the file at `base`.
    static func path(_ path: String, relativeTo base: String) -> String {
        guard !path.hasPrefix("/"), let slash = base.lastIndex(of: "/") else { return path }
        return String(base[...slash]) + path
    }
}
