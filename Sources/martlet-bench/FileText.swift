import Glibc
import TestKit

/// Whole files.
enum FileText {
    static func bytes(of path: String) throws(ProcessError) -> [UInt8] {
        guard let file = fopen(path, "r") else { throw ProcessError("cannot read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return bytes
    }
}
