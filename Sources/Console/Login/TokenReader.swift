import Configuration
import Glibc
import JSON

/// The reader of the file of personal tokens. It reads the file for each check of a token, because a removed token must
/// not work.
struct TokenReader {
    /// The reason why the file cannot be used.
    struct Failure: Error, Hashable {
        let sentence: String
    }

    /// The path of the file; nil if the configuration names none.
    let path: String?

    func read() throws(Failure) -> TokenFile {
        guard let path else { return TokenFile() }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Failure(sentence: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        // Another user could add a token.
        guard status.st_mode & 0o022 == 0, status.st_uid == 0 || status.st_uid == geteuid() else {
            throw Failure(sentence: "cannot use \(path): another user may write to it; run: chmod go-w \(path)")
        }
        do {
            return try TokenFile(json: try FileReader.bytes(of: path, bytesMax: TokenFile.bytesMax, refusesPipes: true))
        } catch let error as InputError {
            throw Failure(sentence: "cannot use \(path): \(error.message)")
        } catch {
            throw Failure(sentence: "cannot read \(path): \((error as? ReferenceResolver.ReadFailure)?.reason ?? "")")
        }
    }
}
