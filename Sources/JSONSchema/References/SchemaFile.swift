import Glibc
import JSON

/// A schema file in a folder whose files have URIs with a common prefix.
struct SchemaFile {
    let path: String

    /// Creates the path of a file. Returns nil if the name is empty, contains the segment `..` or a zero byte, or has
    /// malformed percent escapes.
    init?(folder: String, name: String) {
        guard let name = URIReference.percentDecoded(name), !name.utf8.contains(0) else { return nil }
        // Split bytes, as the kernel does. In Swift, a slash and a following combining mark are one character.
        let parts = name.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
        guard !parts.isEmpty, !parts.contains("..") else { return nil }
        path = ([Substring(folder)] + parts).joined(separator: "/")
    }

    /// Reads and parses the file. Returns nil if it does not exist.
    func document(limits: JSONLimits) throws(SchemaFileError) -> JSONDocument? {
        guard let text = try read(bytesMax: limits.bytesMax) else { return nil }
        do throws(JSONError) {
            return try JSONDocument(text, limits: limits)
        } catch {
            throw SchemaFileError(message: "\(path) is not JSON: \(error)")
        }
    }

    /// Reads at most one byte more than the limit, so that the parser detects a text that is too long. Returns nil if
    /// the file does not exist.
    private func read(bytesMax: Int) throws(SchemaFileError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno != ENOENT, errno != ENOTDIR else { return nil }
            throw SchemaFileError(message: "cannot open \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while text.count <= bytesMax {
            let count = Glibc.read(descriptor, &chunk, min(chunk.count, bytesMax + 1 - text.count))
            guard count >= 0 else {
                throw SchemaFileError(message: "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { break }
            text += chunk[..<count]
        }
        return text
    }
}

struct SchemaFileError: Error {
    var message: String
}
