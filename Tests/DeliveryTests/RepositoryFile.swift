import Glibc

/// Files of this checkout, found from where this file stands.
enum RepositoryFile {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }

    struct Missing: Error {
        var name: String
    }

    static func exists(_ name: String) -> Bool {
        access("\(root)/\(name)", F_OK) == 0
    }

    static func read(_ name: String) throws -> String {
        guard let file = fopen("\(root)/\(name)", "r") else { throw Missing(name: name) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// The texts between each `start` and the next `end`.
    func components(between start: String, and end: String) -> [String] {
        var found: [String] = []
        var rest = self[...]
        while let from = rest.firstRange(of: start), let to = rest[from.upperBound...].firstRange(of: end) {
            found.append(String(rest[from.upperBound..<to.lowerBound]))
            rest = rest[to.upperBound...]
        }
        return found
    }
}
