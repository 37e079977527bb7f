import CommandKit
import Configuration
import Glibc
import JSON

/// The progress of an import, in a file beside the imported file. The store has applied the first `line` lines, except
/// those that the file of rejects lists.
struct ImportCheckpoint: Equatable, Sendable {
    private static let bytesMax = 4096

    /// The hash that identifies the store (``RegistrationImport/Options/store``).
    var store: UInt64 = 0
    var line = 0
    var bytes = 0
    /// The hash of the first `bytes` bytes of the imported file.
    var hash = ImportPlace().hash
    /// The size of the file of rejects. Rejects beyond this size belong to later lines.
    var rejectBytes = 0
    var counts = ImportCounts()

    private static let hash = ValueCodec<String>.text.mapped(
        "a number in hexadecimal digits", read: { UInt64($0, radix: 16) }, write: { String($0, radix: 16) })
    private static let codec = ObjectCodec(
        "a checkpoint", from: ImportCheckpoint(),
        [
            .required("store", \.store, hash),
            .required("line", \.line, .int(0...Int.max)),
            .required("bytes", \.bytes, .int(0...Int.max)),
            .required("hash", \.hash, hash),
            .required("reject_bytes", \.rejectBytes, .int(0...Int.max)),
            .required("counts", \.counts, ImportCounts.codec.value),
        ])

    static func path(of file: String) -> String { file + ".checkpoint" }

    /// Returns the checkpoint of an imported file; nil if it does not exist.
    ///
    /// - Throws: ``ImportError`` if the checkpoint cannot be read or is invalid.
    static func read(of file: String) throws(ImportError) -> ImportCheckpoint? {
        let path = path(of: file)
        guard access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        let text: [UInt8]
        do throws(ReferenceResolver.ReadFailure) {
            text = try FileReader.bytes(of: path, bytesMax: bytesMax, refusesPipes: true)
        } catch {
            throw ImportError("cannot read \(path): \(error.reason)")
        }
        guard let root = try? JSONDocument(text).root, let checkpoint = try? codec.read(root) else {
            throw ImportError(
                "cannot read \(path): it is not a checkpoint; to import all lines again, run the command without "
                    + "--resume; newer registrations stay unchanged")
        }
        return checkpoint
    }

    /// Writes the checkpoint of an imported file, and replaces an earlier one.
    func write(of file: String) throws(ImportError) {
        let path = Self.path(of: file)
        var json = JSONWriter()
        Self.codec.write(self, to: &json)
        do throws(NewFile.Failure) {
            try NewFile.replace(path, with: json.bytes + [UInt8(ascii: "\n")])
        } catch {
            throw ImportError("cannot write \(path): \(error.reason)")
        }
    }

    static func remove(of file: String) { unlink(path(of: file)) }
}
