import Configuration
import Glibc
import JSON

/// The reader of the file of personal tokens. It reads the file again after each change, because a removed token must
/// not work. Between changes, a check of a token only reads the file's status: a check needs no session, so it must be
/// cheap. Loop-bound.
final class TokenReader {
    /// The reason why the file cannot be used.
    struct Failure: Error, Hashable {
        let sentence: String
        /// Whether the file has the same failure until it changes.
        var isOfContent = false
    }

    /// The values of a file's status that a change of the file changes.
    private struct Version: Hashable {
        let device: UInt
        let inode: UInt
        let bytes: Int
        let changedSeconds: Int
        let changedNanoseconds: Int

        init(_ status: stat) {
            (device, inode, bytes) = (status.st_dev, status.st_ino, status.st_size)
            (changedSeconds, changedNanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
        }
    }

    /// The age at which a change is distinguishable from the next one. File systems count time in steps.
    private static let settledSeconds = 2

    /// The path of the file; nil if the configuration names none.
    let path: String?
    private let load: (String) throws -> [UInt8]
    /// The content of the file, or the reason why it cannot be used.
    private var known: (version: Version, result: Result<TokenFile, Failure>)?

    /// - Parameter load: returns the bytes of a file.
    init(
        path: String?,
        load: @escaping (String) throws -> [UInt8] = {
            try FileReader.bytes(of: $0, bytesMax: TokenFile.bytesMax, refusesPipes: true)
        }
    ) {
        (self.path, self.load) = (path, load)
    }

    /// Returns the content of the file.
    ///
    /// - Parameter now: UNIX milliseconds.
    func read(at now: Int64) throws(Failure) -> TokenFile {
        guard let path else { return TokenFile() }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Failure(sentence: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        // Another user could add a token.
        guard status.st_mode & 0o022 == 0, status.st_uid == 0 || status.st_uid == geteuid() else {
            throw Failure(sentence: "cannot use \(path): another user may write to it; run: chmod go-w \(path)")
        }
        let version = Version(status)
        if let known, known.version == version { return try known.result.get() }
        let result = Result { () throws(Failure) in try read(path) }
        let isSettled = now / 1000 - Int64(version.changedSeconds) >= Self.settledSeconds
        let isLasting = if case .failure(let failure) = result { failure.isOfContent } else { true }
        known = isSettled && isLasting ? (version, result) : nil
        return try result.get()
    }

    private func read(_ path: String) throws(Failure) -> TokenFile {
        do {
            return try TokenFile(json: try load(path))
        } catch let error as InputError {
            throw Failure(sentence: "cannot use \(path): \(error.message)", isOfContent: true)
        } catch {
            throw Failure(sentence: "cannot read \(path): \((error as? ReferenceResolver.ReadFailure)?.reason ?? "")")
        }
    }
}
