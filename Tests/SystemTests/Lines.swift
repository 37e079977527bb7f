import Glibc
import TestKit

/// Files of a test, read whole.
enum Lines {
    static func bytes(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw ProcessError("cannot read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return bytes
    }

    static func of(_ path: String) throws -> [String] {
        try bytes(of: path).split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }
}
