import Crypto
import Glibc
package import Registrations

/// Functions that create key files, and change their data keys.
package enum RegistrationKeyFile {
    /// The reason why a key file cannot be created or changed.
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

    /// Changes the data keys, and returns the keys after the change. The file keeps its owner, group and mode. Blocks.
    @discardableResult
    package static func edit(_ path: String, _ edit: RegistrationKeys.Edit) throws(Failure) -> RegistrationKeys {
        let text: [UInt8]
        let keys: RegistrationKeys
        do throws(RegistrationKeysError) {
            text = try RegistrationKeys(path: path).file(after: edit)
            keys = try RegistrationKeys(json: text, source: path)
        } catch {
            throw error.code == .invalidEdit ? cannotChange(path, error.message) : Failure(message: error.message)
        }
        // The path may be a symbolic link, which must remain.
        guard let resolved = realpath(path, nil) else { throw cannotChange(path, NewFile.Failure(errno).reason) }
        defer { free(resolved) }
        var status = stat()
        guard stat(resolved, &status) == 0 else { throw cannotChange(path, NewFile.Failure(errno).reason) }
        do throws(NewFile.Failure) {
            try NewFile.replace(
                String(cString: resolved), with: text,
                NewFile.Ownership(mode: status.st_mode & 0o7777, owner: (status.st_uid, status.st_gid)))
        } catch {
            throw cannotChange(path, error.reason)
        }
        return keys
    }

    private static func cannotChange(_ path: String, _ reason: String) -> Failure {
        Failure(message: "cannot change \(path): \(reason)")
    }
}
