package import Configuration
import Crypto
import Glibc
package import History
package import Registrations

/// The folder and the keys of a history.
package struct HistoryFiles {
    package struct Failure: Error {
        package let sentence: String
    }

    package let folder: HistoryFolder
    package let keys: RegistrationKeys
    let limits: HistoryLimits

    /// Creates the folder if it is missing, and reads the keys. Creates the key file of a new history, unless the
    /// configuration names a key file. Blocks.
    init(_ settings: HistorySettings) throws(Failure) {
        try Self.makeFolder(settings.folder)
        let path = Self.keysPath(settings)
        if settings.keysFile == nil, access(path, F_OK) != 0 {
            try Self.makeKeys(path, isNew: HistoryFolder(settings.folder).segmentNumbers.isEmpty)
        }
        try self.init(existing: settings)
    }

    /// Reads the keys of a history that exists. Blocks.
    package init(existing settings: HistorySettings) throws(Failure) {
        folder = HistoryFolder(settings.folder)
        do throws(RegistrationKeysError) {
            keys = try RegistrationKeys(path: Self.keysPath(settings))
        } catch {
            throw Failure(sentence: error.message)
        }
        var limits = HistoryLimits()
        limits.retentionMilliseconds = Int64(settings.days) * 86_400_000
        limits.bytesMax = settings.bytesMax
        self.limits = limits
    }

    private static func keysPath(_ settings: HistorySettings) -> String {
        settings.keysFile ?? settings.folder + "/keys.json"
    }

    /// Creates the folder if it is missing. Its parent folder must exist. Checks that no other user can open the
    /// folder.
    private static func makeFolder(_ path: String) throws(Failure) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw Failure(
                sentence: "cannot create the folder \(path): \(String(cString: strerror(errno))); set "
                    + "console.history.folder to a folder that this user may create")
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0
        else {
            throw Failure(sentence: "\(path) must be a folder that only this user can open; run: chmod 700 \(path)")
        }
    }

    /// Creates the key file, which only this user can read.
    private static func makeKeys(_ path: String, isNew: Bool) throws(Failure) {
        guard isNew else {
            throw Failure(
                sentence: "cannot read the history: the key file \(path) is missing; restore the file, "
                    + "or delete the folder of the history")
        }
        let text: [UInt8]
        do throws(CryptoError) {
            text = try RegistrationKeys.generatedFile()
        } catch {
            throw Failure(sentence: error.message)
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let isWritten = descriptor >= 0 && write(descriptor, text, text.count) == text.count && fsync(descriptor) == 0
        let code = errno
        if descriptor >= 0 { close(descriptor) }
        guard isWritten else {
            if descriptor >= 0 { unlink(path) }
            throw Failure(sentence: "cannot write \(path): \(String(cString: strerror(code)))")
        }
    }
}
