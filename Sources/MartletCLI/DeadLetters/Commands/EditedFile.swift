import CLinux
import CommandKit
import Configuration
import Glibc

/// A file of its own for a text that a person edits, which nobody else can read.
struct EditedFile: Sendable {
    private static let bytesMax = 16 << 20

    let path: String

    init(_ text: [UInt8]) throws(ReferenceResolver.ReadFailure) {
        let folder = Environment.nonEmpty("TMPDIR") ?? "/tmp"
        let suffix = ".json"
        // Made with mode 0600.
        var template = Array("\(folder)/martlet-XXXXXX\(suffix)".utf8CString)
        let descriptor = mkstemps(&template, Int32(suffix.utf8.count))
        guard descriptor >= 0 else {
            throw ReferenceResolver.ReadFailure(reason: String(cString: strerror(errno)))
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(descriptor) }
        guard text.withUnsafeBytes({ FileWriter.write($0, to: descriptor) }) else {
            remove()
            throw ReferenceResolver.ReadFailure(reason: "it cannot be written")
        }
    }

    /// As it was saved last.
    func text() throws(ReferenceResolver.ReadFailure) -> [UInt8] {
        try FileReader.bytes(of: path, bytesMax: Self.bytesMax)
    }

    func remove() { unlink(path) }
}
