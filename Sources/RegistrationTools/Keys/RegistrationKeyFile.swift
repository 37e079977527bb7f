import Crypto
import Glibc
import Registrations

/// Creates key files, and adds data keys to them.
package enum RegistrationKeyFile {
    /// The reason why a key file cannot be created or extended.
    package struct Failure: Error, Equatable, Sendable {
        package let message: String
    }

    private static let mode: mode_t = 0o640

    /// Creates a key file with random keys and mode 0640. Never replaces a file. Blocks.
    package static func create(_ path: String) throws(Failure) {
        let text: [UInt8]
        do throws(CryptoError) {
            text = try RegistrationKeys.generatedFile()
        } catch {
            throw Failure(message: "cannot create \(path): \(error.message)")
        }
        do throws(NewFile.Failure) {
            try NewFile.create(path, text, NewFile.Ownership(mode: mode))
        } catch {
            throw Failure(message: "cannot create \(path): \(error.reason)")
        }
    }

    /// Adds a random data key. Processes that read the file afterwards encrypt with it. The file keeps its owner, group
    /// and mode. Blocks.
    package static func addDataKey(to path: String) throws(Failure) {
        let text = try textWithNewDataKey(path)
        // The path may be a symbolic link, which must remain.
        guard let resolved = realpath(path, nil) else { throw cannotExtend(path, NewFile.Failure(errno).reason) }
        defer { free(resolved) }
        var status = stat()
        guard stat(resolved, &status) == 0 else { throw cannotExtend(path, NewFile.Failure(errno).reason) }
        do throws(NewFile.Failure) {
            try NewFile.replace(
                String(cString: resolved), with: text,
                NewFile.Ownership(mode: status.st_mode & 0o7777, owner: (status.st_uid, status.st_gid)))
        } catch {
            throw cannotExtend(path, error.reason)
        }
    }

    private static func textWithNewDataKey(_ path: String) throws(Failure) -> [UInt8] {
        let keys: RegistrationKeys
        do throws(RegistrationKeysError) {
            keys = try RegistrationKeys(path: path)
        } catch {
            throw Failure(message: error.message)
        }
        do throws(CryptoError) {
            if let text = try keys.fileWithNewDataKey() { return text }
        } catch {
            throw cannotExtend(path, error.message)
        }
        throw cannotExtend(
            path,
            "it has \(RegistrationKeys.dataKeysMax) data keys, or one with the highest id; delete data keys that encrypt no "
                + "row")
    }

    private static func cannotExtend(_ path: String, _ reason: String) -> Failure {
        Failure(message: "cannot add a data key to \(path): \(reason)")
    }
}
