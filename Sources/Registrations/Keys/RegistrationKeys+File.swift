import Glibc
import Text

extension RegistrationKeys {
    /// The permission bits that a key file may have.
    private static let modeMax: mode_t = 0o640

    /// Reads a key file. Blocks.
    ///
    /// - Throws: `unreadable`, `exposed` if the permissions exceed 0640, or `malformed`.
    public init(path: String) throws(RegistrationKeysError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw RegistrationKeysError(.unreadable, "cannot read keys from \(path): not a regular file")
        }
        let mode = status.st_mode & 0o7777
        guard mode & ~Self.modeMax == 0 else {
            throw RegistrationKeysError(
                .exposed,
                "cannot use keys from \(path): the mode \(String(mode, radix: 8)) permits more than 640; run: "
                    + "chmod 640 " + Shell.operand(path))
        }
        try self.init(json: try Self.bytes(of: descriptor, path), source: path)
    }

    private static func bytes(of descriptor: Int32, _ path: String) throws(RegistrationKeysError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: fileBytesMax + 1)
        var count = 0
        while count < bytes.count {
            let added = bytes.withUnsafeMutableBytes { bytes in
                read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            }
            if added == 0 { break }
            guard added > 0 else {
                guard errno == EINTR else { throw unreadable(path, errno) }
                continue
            }
            count += added
        }
        guard count <= fileBytesMax else {
            throw RegistrationKeysError(
                .malformed,
                "cannot read keys from \(path): the file has more than \(fileBytesMax) bytes; name a key file")
        }
        return Array(bytes.prefix(count))
    }

    private static func unreadable(_ path: String, _ code: Int32) -> RegistrationKeysError {
        switch code {
        case ENOENT:
            return RegistrationKeysError(
                .unreadable,
                "cannot read keys from \(path): the file does not exist; for a new store, run: "
                    + "martlet registrations keys \(Shell.operand(path))")
        case EACCES:
            return RegistrationKeysError(
                .unreadable,
                "cannot read keys from \(path): permission denied; run as root: "
                    + "chgrp \(getegid()) \(Shell.operand(path)) && chmod 640 \(Shell.operand(path))")
        default:
            let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
            return RegistrationKeysError(.unreadable, "cannot read keys from \(path): \(reason)")
        }
    }
}
