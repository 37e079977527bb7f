import CommandKit
import Glibc

/// The file of rejects beside an imported file. The first reject creates the file, which only its owner can read.
final class RejectFile {
    private let path: String
    private var descriptor: Int32 = -1
    /// The size of the file in bytes.
    private(set) var bytes: Int

    /// Keeps the rejects of a resumed import, or removes an old file.
    ///
    /// - Parameter bytes: The size up to which an existing file is kept. 0 removes a file of an earlier import.
    init(of file: String, keeping bytes: Int) throws(ImportError) {
        path = Self.path(of: file)
        self.bytes = bytes
        if bytes == 0 {
            guard unlink(path) == 0 || errno == ENOENT else { throw failure(errno) }
        } else {
            try openFile()
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_size >= bytes else {
                throw ImportError(
                    "cannot resume the import: \(path) is shorter than before; to import all lines again, run the "
                        + "command without --resume; newer registrations stay unchanged")
            }
            guard ftruncate(descriptor, off_t(bytes)) == 0 else { throw failure(errno) }
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    static func path(of file: String) -> String { file + ".rejects" }

    func append(_ rejects: [ImportReject]) throws(ImportError) {
        guard !rejects.isEmpty else { return }
        if descriptor < 0 { try openFile() }
        let text = rejects.flatMap(\.text)
        guard text.withUnsafeBytes({ FileWriter.write($0, to: descriptor) }) else { throw failure(errno) }
        bytes += text.count
    }

    private func openFile() throws(ImportError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
    }

    private func failure(_ code: Int32) -> ImportError {
        ImportError("cannot write \(path): \(NewFile.Failure(code).reason)")
    }
}
