import CLinux
import CommandKit
import Configuration
import Glibc

/// A temporary file for a text that an operator edits. Only the owner can read the file.
struct EditedFile: Sendable {
    private static let bytesMax = 16 << 20

    let path: String

    init(_ text: [UInt8]) throws(ReferenceResolver.ReadFailure) {
        let folder = Environment.nonEmpty("TMPDIR") ?? "/tmp"
        let suffix = ".json"
        // mkstemps creates the file with mode 0600.
        var template = Array("\(folder)/martlet-XXXXXX\(suffix)".utf8CString)
        let descriptor = mkstemps(&template, Int32(suffix.utf8.count))
        guard descriptor >= 0 else {
            throw ReferenceResolver.ReadFailure(reason: String(cString: strerror(errno)))
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(descriptor) }
        guard text.withUnsafeBytes({ FileWriter.write($0, to: descriptor) }) else {
            remove()
            throw ReferenceResolver.ReadFailure(reason: "write failed")
        }
    }

    /// Returns the text as last saved.
    func text() throws(ReferenceResolver.ReadFailure) -> [UInt8] {
        try FileReader.bytes(of: path, bytesMax: Self.bytesMax)
    }

    func remove() { unlink(path) }
}
