import CLinux
import Glibc

/// A reader of files of limited size, such as configurations, secrets and requests.
package enum FileReader {
    /// Returns the content of a file.
    ///
    /// - Parameters:
    ///   - path: `-` is standard input if `allowsStandardInput` is set.
    ///   - refusesPipes: whether to accept only regular files, which cannot block.
    package static func bytes(
        of path: String, bytesMax: Int, allowsStandardInput: Bool = false, refusesPipes: Bool = false
    ) throws(ReferenceResolver.ReadFailure) -> [UInt8] {
        let descriptor = try open(path, allowsStandardInput: allowsStandardInput, refusesPipes: refusesPipes)
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        while try append(from: descriptor, to: &bytes) {
            guard bytes.count <= bytesMax else {
                throw ReferenceResolver.ReadFailure(reason: "larger than \(bytesMax) bytes")
            }
        }
        return bytes
    }

    /// Opens a file and returns its descriptor, whose reads block. The caller closes the descriptor unless it is
    /// standard input.
    ///
    /// - Parameter awaitsWriter: whether the open of a named pipe waits for its writer. Otherwise, `poll` can wait.
    package static func open(
        _ path: String, allowsStandardInput: Bool, refusesPipes: Bool = false, awaitsWriter: Bool = true
    ) throws(ReferenceResolver.ReadFailure) -> Int32 {
        if allowsStandardInput && path == "-" { return STDIN_FILENO }
        let isBlocking = awaitsWriter && !refusesPipes
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | (isBlocking ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw failure(errno) }
        if !isBlocking { _ = fcntl(descriptor, F_SETFL, 0) }
        var status = stat()
        guard !refusesPipes || fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw ReferenceResolver.ReadFailure(reason: "not a regular file")
        }
        return descriptor
    }

    /// Appends available bytes, at most 64 KiB, to `bytes`. Returns false at the end of the file.
    package static func append(from descriptor: Int32, to bytes: inout [UInt8]) throws(ReferenceResolver.ReadFailure)
        -> Bool
    {
        while true {
            var code: Int32 = 0
            let count = withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { chunk in
                let count = read(descriptor, chunk.baseAddress, chunk.count)
                code = errno
                if count > 0 { bytes += chunk[..<count] }
                return count
            }
            if count >= 0 { return count > 0 }
            guard code == EINTR else { throw failure(code) }
        }
    }

    package static func failure(_ code: Int32) -> ReferenceResolver.ReadFailure {
        let reason =
            switch code {
            case ENOENT: "no such file"
            case EACCES: "permission denied"
            case EISDIR: "is a directory"
            default: strerror(code).map { String(cString: $0) } ?? "error \(code)"
            }
        return ReferenceResolver.ReadFailure(reason: reason)
    }

    /// Returns `path`, resolved relative to the folder of the file at `base`.
    package static func path(_ path: String, relativeTo base: String) -> String {
        guard !path.hasPrefix("/"), let slash = base.lastIndex(of: "/") else { return path }
        return String(base[...slash]) + path
    }
}
