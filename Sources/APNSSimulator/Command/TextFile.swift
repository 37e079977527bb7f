import Glibc

/// Functions that read and write complete small files, and create directories.
enum TextFile {
    static let bytesMax = 16 << 20

    static func read(_ path: String) throws(SimulatorError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(.noInput, "cannot read \(path)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw failure(.noInput, "cannot read \(path)")
            }
            bytes.append(contentsOf: piece[..<count])
            guard bytes.count <= bytesMax else {
                throw SimulatorError(.badInput, "cannot read \(path): larger than \(bytesMax) bytes")
            }
        }
    }

    /// Writes a temporary file in the same directory and renames it. Readers never see an incomplete file.
    static func write(_ text: String, to path: String, isSecret: Bool = false) throws(SimulatorError) {
        let temporary = "\(path).\(getpid()).tmp"
        // A file of this name comes from an earlier process, or is another user's link.
        unlink(temporary)
        let descriptor = open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw failure(.cannotWrite, "cannot write \(path)") }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                let error = failure(.cannotWrite, "cannot write \(path)")
                close(descriptor)
                unlink(temporary)
                throw error
            }
        }
        close(descriptor)
        guard rename(temporary, path) == 0 else {
            let error = failure(.cannotWrite, "cannot write \(path)")
            unlink(temporary)
            throw error
        }
    }

    /// Creates the directory and its missing parents.
    static func makeDirectory(_ path: String) throws(SimulatorError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? "\(part)" : "/\(part)"
            guard mkdir(made, 0o755) == 0 || errno == EEXIST else {
                throw failure(.cannotWrite, "cannot create the directory \(made)")
            }
        }
    }

    private static func failure(_ code: SimulatorError.Code, _ what: String) -> SimulatorError {
        SimulatorError(code, "\(what): \(String(cString: strerror(errno)))")
    }
}
