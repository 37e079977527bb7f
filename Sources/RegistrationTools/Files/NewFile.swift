import CommandKit
package import Glibc

/// Functions that write new files. By default, only the owner of a file can read and write it.
package enum NewFile {
    /// The reason why a file cannot be written.
    package struct Failure: Error, Equatable {
        package let reason: String

        init(_ code: Int32) {
            reason = code == EEXIST ? "file exists" : strerror(code).map { String(cString: $0) } ?? "error \(code)"
        }
    }

    package struct Ownership {
        package var mode: mode_t
        /// The owner of the file; nil for the user and group of the process.
        package var owner: (user: uid_t, group: gid_t)?

        package init(mode: mode_t = ownerOnly, owner: (user: uid_t, group: gid_t)? = nil) {
            (self.mode, self.owner) = (mode, owner)
        }
    }

    package static let ownerOnly: mode_t = 0o600

    /// Writes a new file, and flushes it to the disk. Fails if the file exists.
    package static func create(
        _ path: String, _ bytes: [UInt8], _ ownership: Ownership = Ownership()
    ) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, ownerOnly)
        guard descriptor >= 0 else { throw Failure(errno) }
        defer { close(descriptor) }
        guard bytes.withUnsafeBytes({ FileWriter.write($0, to: descriptor) }),
            ownership.owner.map({ fchown(descriptor, $0.user, $0.group) == 0 }) ?? true,
            fchmod(descriptor, ownership.mode) == 0, fsync(descriptor) == 0
        else {
            let failure = Failure(errno)
            unlink(path)
            throw failure
        }
        syncFolder(of: path)
    }

    /// Replaces or creates a file. A reader finds either the previous or the new content, also after a crash.
    package static func replace(
        _ path: String, with bytes: [UInt8], _ ownership: Ownership = Ownership()
    ) throws(Failure) {
        let temporary = path + ".new"
        unlink(temporary)
        try create(temporary, bytes, ownership)
        guard rename(temporary, path) == 0 else {
            let failure = Failure(errno)
            unlink(temporary)
            throw failure
        }
        syncFolder(of: path)
    }

    /// Flushes the folder of a file, because a flush of the file does not write its name to the disk.
    private static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
